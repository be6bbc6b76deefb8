/* SPDX-License-Identifier: Apache-2.0
 *
 * The lint of a plugin's tables, fault by fault, and the loader's answers to names.
 */
#include "base/files.h"
#include "plugin/plugin.h"
#include "unit.h"

struct cell {
    uint64_t size;
    int algorithm;
    char label[WL_TEXT_MAX];
};

static const char *const algorithms[] = {"auto", "ring", NULL};

/* A plugin that is good, on the stack of each test, to be spoiled in one place. */
struct good {
    struct wl_param params[4];
    struct wl_metric metrics[3];
    struct plugin plugin;
};

static enum wl_status describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                               char *why, size_t n)
{
    (void)cell, (void)job, (void)shape, (void)why, (void)n;
    return WL_OK;
}

static enum wl_status open_it(void **self, const struct wl_host *host)
{
    (void)self, (void)host;
    return WL_OK;
}

static enum wl_status prepare(void *self, const void *cell, void **prepared)
{
    (void)self, (void)cell, (void)prepared;
    return WL_OK;
}

static enum wl_status sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    (void)prepared, (void)iters, (void)out;
    return WL_OK;
}

static enum wl_status verify(void *prepared)
{
    (void)prepared;
    return WL_OK;
}

static void release(void *x)
{
    (void)x;
}

static void make_good(struct good *g)
{
    *g = (struct good){
        .params = {{"size", WL_SIZE, WL_AXIS, WL_FIELD(struct cell, size, uint64_t), "B", "8", 8,
                    1e9, NULL, "bytes"},
                   {"algorithm", WL_CHOICE, WL_CONFIG, WL_FIELD(struct cell, algorithm, int), NULL,
                    "auto", 0, 0, algorithms, "how"},
                   {"label", WL_TEXT, WL_AXIS, WL_TEXT_FIELD(struct cell, label), NULL, "", 0, 0,
                    NULL, "anything"}},
        .metrics = {{"time", "s", "one iteration", WL_MAX}, {"moved", "B", "bytes", WL_SUM}}};
    g->plugin.path = "somewhere/toy.so";
    g->plugin.wl = (struct wl_plugin){.size = sizeof(struct wl_plugin),
                                      .name = "toy",
                                      .version = "1",
                                      .summary = "a toy",
                                      .params = g->params,
                                      .cell_size = sizeof(struct cell),
                                      .metrics = g->metrics,
                                      .describe = describe,
                                      .open = open_it,
                                      .close = release,
                                      .prepare = prepare,
                                      .release = release,
                                      .sample = sample,
                                      .verify = verify};
}

static void append(void *ctx, const char *line)
{
    char *all = ctx;
    snprintf(all + strlen(all), 4096 - strlen(all), "%s\n", line);
}

/* Exactly one fault, which says `words`. */
static void expect(const struct good *g, const char *words)
{
    char all[4096] = "";
    int n = plugin_lint(&g->plugin, append, all);
    if (n != 1 || !strstr(all, words))
        fail_msg("%d faults where one with '%s' is expected:\n%s", n, words, all);
}

TEST(test_good)
{
    struct good g;
    make_good(&g);
    char all[4096] = "";
    assert_int_equal(plugin_lint(&g.plugin, append, all), 0);
    assert_string_equal(all, "");
}

#define SPOILED(change, words)                                                                     \
    do {                                                                                           \
        struct good g;                                                                             \
        make_good(&g);                                                                             \
        change;                                                                                    \
        expect(&g, words);                                                                         \
    } while (0)

TEST(test_struct)
{
    SPOILED(g.plugin.wl.name = "Toy", "'Toy' is not a lower-case identifier");
    SPOILED(g.plugin.wl.name = NULL, "(NULL)");
    SPOILED(g.plugin.wl.name = "to", "rename the file to to.so");
    SPOILED(g.plugin.path = "toy2.so", "rename the file to toy.so");
    SPOILED(g.plugin.wl.version = NULL, "version");
    SPOILED(g.plugin.wl.summary = "two\nlines", "summary");
    SPOILED(g.plugin.wl.describe = NULL, "no describe()");
    SPOILED(g.plugin.wl.open = NULL, "no open()");
    SPOILED(g.plugin.wl.close = NULL, "no close()");
    SPOILED(g.plugin.wl.name = "measure", "'measure' is a fixed section of configs");
    SPOILED(g.plugin.wl.prepare = NULL, "no prepare()");
    SPOILED(g.plugin.wl.release = NULL, "no release()");
    SPOILED(g.plugin.wl.sample = NULL, "no sample()");
    SPOILED(g.plugin.wl.verify = NULL, "no verify()");
    SPOILED(g.plugin.wl.params = NULL, "no params table");
    SPOILED(g.plugin.wl.metrics = NULL, "no metrics");
}

TEST(test_params)
{
    static const char *const blank[] = {"a b", "auto", NULL},
                             *const slash[] = {"auto", "a/b", NULL},
                             *const twice[] = {"auto", "auto", NULL}, *const none[] = {NULL};
    SPOILED(g.params[0].name = "Size", "lower-case identifier");
    SPOILED(g.params[0].name = "configs", "a key of every workload section");
    SPOILED(g.params[2].name = "size", "'size' is declared twice");
    SPOILED(g.params[0].def = "8 apples", "'8 apples' is not a size");
    SPOILED(g.params[0].def = "4", "'4' is not in range");
    SPOILED(g.params[0].def = NULL, "has no default");
    SPOILED(g.params[1].def = "rign", "did you mean 'ring'");
    SPOILED(g.params[0].help = "", "help is empty");
    SPOILED(g.params[0].help = "a\nb", "help is empty, or not one line");
    SPOILED(g.params[0].role = (enum wl_role)3, "role 3");
    SPOILED(g.params[0].type = (enum wl_type)8, "type 8");
    SPOILED(g.params[0].choices = algorithms, "is not a WL_CHOICE");
    SPOILED(g.params[1].choices = NULL, "without choices");
    SPOILED(g.params[1].choices = none, "without choices");
    SPOILED(g.params[1].choices = blank, "choice 'a b'");
    SPOILED(g.params[1].choices = slash, "choice 'a/b'");
    SPOILED(g.params[1].choices = twice, "is listed twice");
    SPOILED(g.params[2].offset = sizeof(struct cell) - WL_TEXT_MAX + 8, "but the cell ends at");
    SPOILED(g.params[2].offset = SIZE_MAX, "outside the cell");
    SPOILED(g.params[1].offset = 4,
            "fills 8 bytes of 'size', which has only 4: make it of type uint64_t");
    SPOILED(g.plugin.wl.cell_size = 16, "'label': WL_TEXT fills 64 bytes");
}

TEST(test_metrics)
{
    SPOILED(g.metrics[0].name = "period", "must be \"time\" in \"s\"");
    SPOILED(g.metrics[0].unit = "ms", "must be \"time\" in \"s\"");
    SPOILED(g.metrics[0].name = NULL, "no metrics");
    SPOILED(g.metrics[1].name = "time", "'time' is declared twice");
    SPOILED(g.metrics[1].name = "time_ns", "recordings use this name for samples");
    SPOILED(g.metrics[1].name = "Moved", "lower-case identifier");
    SPOILED(g.metrics[1].unit = NULL, "no unit");
    SPOILED(g.metrics[1].help = NULL, "help");
    SPOILED(g.metrics[1].across = (enum wl_across)5, "across 5");
}

TEST(test_range)
{
    struct good g;
    make_good(&g);
    g.params[0].min = 9;
    g.params[0].max = 3; /* no default can lie in it: two faults */
    char all[4096] = "";
    assert_int_equal(plugin_lint(&g.plugin, append, all), 2);
    assert_non_null(strstr(all, "min 9 is above max 3"));
}

TEST(test_endless_tables)
{
    struct good g;
    make_good(&g);
    struct wl_metric *many = calloc(WL_METRICS_MAX + 2, sizeof *many);
    char names[WL_METRICS_MAX + 2][8];
    for (int i = 0; i < WL_METRICS_MAX + 1; i++) {
        snprintf(names[i], sizeof names[i], "m%d", i);
        many[i] = (struct wl_metric){i ? names[i] : "time", "s", "help", WL_MAX};
    }
    g.plugin.wl.metrics = many;
    expect(&g, "more than 16 metrics");
    free(many);
}

TEST(test_names)
{
    struct plugin *p = NULL;
    char line[512];
    err_capture(line, sizeof line);
    int missing = plugin_load(&p, "no_such_plugin_at_all");
    char first[512];
    memcpy(first, line, sizeof first);
    int path = plugin_load(&p, "./no_such.so");
    err_capture(NULL, 0);
    assert_int_equal(missing, GS_USAGE);
    assert_non_null(strstr(first, "no plugin 'no_such_plugin_at_all'"));
    assert_int_equal(path, GS_USAGE);
    assert_non_null(strstr(line, "./no_such.so: "));
    assert_null(p);
}

TEST(test_program_dir)
{
    char self[4096];
    snprintf(self, sizeof self, "%s/test_plugin", program_dir());
    assert_int_equal(program_dir()[0], '/');
    assert_int_equal(access(self, X_OK), 0);
}
