/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a config: scan against iniparser, settings, sweep and labels of a plugin made by
 * hand. The first byte says whether the rest is a config, or an override of a small one.
 */
#include "bundle.h"
#include "config/config.h"
#include "config/settings.h"
#include "plan/plan.h"

struct fuzz_cell {
    uint64_t size;
    int64_t count;
    double share, wait, rate;
    bool flag;
    int mode, algorithm, protocol;
    char note[WL_TEXT_MAX];
};

#define P(m, type, role, ctype) #m, type, role, WL_FIELD(struct fuzz_cell, m, ctype)

static const char *const modes[] = {"beside", "alone", NULL};
static const char *const names[] = {"auto", "ring", "tree", NULL};

static const struct wl_param params[] = {
    {P(size, WL_SIZE, WL_AXIS, uint64_t), "B", "8", 0, 1ull << 62, NULL, ""},
    {P(count, WL_INT, WL_AXIS, int64_t), NULL, "1", 0, 0, NULL, ""},
    {P(share, WL_REAL, WL_AXIS, double), NULL, "0", 0, 0, NULL, ""},
    {P(wait, WL_TIME, WL_AXIS, double), "s", "0", 0, 9, NULL, ""},
    {P(rate, WL_RATE, WL_CONFIG, double), "B/s", "0", 0, 0, NULL, ""},
    {P(flag, WL_BOOL, WL_AXIS, bool), NULL, "no", 0, 0, NULL, ""},
    {P(mode, WL_CHOICE, WL_MODE, int), NULL, "beside", 0, 0, modes, ""},
    {P(algorithm, WL_CHOICE, WL_CONFIG, int), NULL, "auto", 0, 0, names, ""},
    {P(protocol, WL_CHOICE, WL_CONFIG, int), NULL, "auto", 0, 0, names, ""},
    {"note", WL_TEXT, WL_AXIS, WL_TEXT_FIELD(struct fuzz_cell, note), NULL, "", 0, 0, NULL, ""},
    {0}};

static enum wl_status describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                               char *why, size_t n)
{
    const struct fuzz_cell *c = cell;
    snprintf(why, n, "count is %lld", (long long)c->count);
    shape->host_B = c->size * (uint64_t)job->ranks;
    shape->config_free = c->mode == 1;
    return c->count == 3 ? WL_FAIL : c->count == 4 ? WL_SKIP : WL_OK;
}

/* What a plan promises to those who run it. */
static void check(const struct plan *p)
{
    size_t at = 0;
    for (size_t g = 0; g < p->n_groups; g++) {
        if (p->groups[g].first != at || !p->groups[g].n)
            abort();
        at += p->groups[g].n;
    }
    if (at != p->n_cells || !p->n_cells || !p->seed)
        abort();
    for (size_t i = 0; i < p->n_cells; i++)
        if (strlen(p->cells[i].id) != PLAN_ID - 1 || !p->cells[i].config || !p->cells[i].params)
            abort();
    plan_cost(p);
}

static void plan_section(struct config *c, const char *section)
{
    struct plugin *plugin = xcalloc(1, sizeof *plugin);
    struct plan *p;
    plugin->path = xstrdup("fuzz.so");
    plugin->wl = (struct wl_plugin){.size = sizeof plugin->wl,
                                    .name = "fuzz",
                                    .version = "1",
                                    .params = params,
                                    .cell_size = sizeof(struct fuzz_cell),
                                    .describe = describe};
    if (!plan_build(&p, config_share(c), section, plugin, NULL))
        check(p);
    plan_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char small[] = "[launch]\nranks = 4\n[fuzz]\nsize = 8:64:x2\n";
    char error[256];
    struct config *c;
    if (!n)
        return 0;
    err_capture(error, sizeof error);
    char *rest = xstrfmt("%.*s", (int)(n - 1), (const char *)data + 1);
    const char *const set[] = {rest, NULL};
    int code = data[0] & 1 ? config_from_text(&c, "fuzz.ini", small, sizeof small - 1, set)
                           : config_from_text(&c, "fuzz.ini", (const char *)data + 1, n - 1, NULL);
    for (size_t i = 0; !code && i < 4 && config_workload(c, i); i++)
        plan_section(c, config_workload(c, i));
    config_free(c);
    free(rest);
    err_capture(NULL, 0);
    return 0;
}
