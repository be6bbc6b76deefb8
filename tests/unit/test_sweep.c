/* SPDX-License-Identifier: Apache-2.0 */
#include "config/params.h"
#include "plan/sweep.h"
#include "toy.h"
#include "unit.h"

#define N(a) (sizeof(a) / sizeof *(a))

struct fixture {
    struct plugin *plugin;
    struct config *config;
    struct sweep sweep;
    char error[4096];
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    f->plugin = toy_plugin();
    err_capture(f->error, sizeof f->error);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    sweep_free(&f->sweep);
    config_free(f->config);
    plugin_unload(f->plugin);
    err_capture(NULL, 0);
    free(f);
    return 0;
}

static int read_sweep(struct fixture *f, const char *keys)
{
    AUTO_FREE char *text = xstrfmt("[toy]\n%s\n", keys);
    sweep_free(&f->sweep);
    config_free(f->config);
    f->config = toy_config(text);
    return sweep_read(&f->sweep, f->config, "toy", &f->plugin->wl);
}

/* "value value …" of one parameter over the cells. */
static char *values(struct fixture *f, const char *name)
{
    const struct wl_param *p = params_find(f->plugin->wl.params, name);
    struct text t = {0};
    struct toy_cell cell;
    char buf[128];
    text_clear(&t);
    for (size_t i = 0; i < sweep_count(&f->sweep); i++) {
        sweep_cell(&f->sweep, i, &cell);
        text_addf(&t, "%s%s", t.len ? " " : "", param_format(p, &cell, buf, sizeof buf));
    }
    return t.s;
}

static void assert_values(struct fixture *f, const char *keys, const char *name, const char *want)
{
    if (read_sweep(f, keys))
        fail_msg("%s: %s", keys, f->error);
    AUTO_FREE char *got = values(f, name);
    assert_string_equal(got, want);
}

TEST_WITH(lists_and_ranges, set_up, tear_down)
{
    static const struct {
        const char *keys, *name, *want;
    } cases[] = {
        {"", "size", "1KiB"},
        {"size = 8", "size", "8"},
        {"size = 8:128:x2", "size", "8 16 32 64 128"},
        {"size = 8:100:x2", "size", "8 16 32 64"},
        {"size = 1KiB:2KiB:+512", "size", "1KiB 1536 2KiB"},
        {"size = 4, 8:32:x4, 1MiB", "size", "4 8 32 1MiB"},
        {"size = 0:8:+4", "size", "0 4 8"},
        {"size = 256GiB:1TiB:x2", "size", "256GiB 512GiB 1TiB"},
        {"count = 1:9:+2", "count", "1 3 5 7 9"},
        {"count = -4:4:+4", "count", "-4 0 4"},
        {"count = 7:7:+1", "count", "7"},
        {"share = 0.1:0.5:+0.1", "share", "0.1 0.2 0.3 0.4 0.5"},
        {"share = 1%, 5%", "share", "0.01 0.05"},
        {"wait = 1us:1ms:x10", "wait", "1us 10us 100us 1ms"},
        {"flag = yes, no", "flag", "yes no"},
        {"note = a:b, c d", "note", "a:b c d"},
        {"dtype = int32, float32", "dtype", "int32 float32"},
    };
    for (size_t i = 0; i < N(cases); i++)
        assert_values(*state, cases[i].keys, cases[i].name, cases[i].want);
}

TEST_WITH(products, set_up, tear_down)
{
    struct fixture *f = *state;
    assert_values(f, "size = 4, 8\ncount = 1, 2", "size", "4 4 8 8");
    assert_values(f, "size = 4, 8\ncount = 1, 2", "count", "1 2 1 2");
}

TEST_WITH(configs, set_up, tear_down)
{
    struct fixture *f = *state;
    const char *keys = "configs = auto, ring/LL128, LL128/tree, ctas=8, 16, algorithm=ring";
    assert_values(f, keys, "algorithm", "auto ring tree auto auto ring");
    assert_values(f, keys, "protocol", "auto LL128 LL128 auto auto auto");
    assert_values(f, keys, "ctas", "0 0 0 8 16 0");
    assert_values(f, "size = 4, 8\nconfigs = auto, ring", "size", "4 4 8 8");
}
