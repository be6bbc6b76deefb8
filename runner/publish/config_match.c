/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/config_match.h"

#include "base/err.h"
#include "base/text.h"
#include "config/config.h"
#include "config/settings.h"
#include "plan/plan_build.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A plan's words have quotes around an empty text, a recording's have none. */
static bool same_value(const char *a, const char *b)
{
    a = strcmp(a, "\"\"") ? a : "";
    b = strcmp(b, "\"\"") ? b : "";
    return !strcmp(a, b);
}

/* The values that two lists of "key=value" words give to the same key are the same. */
static bool agree(const struct words *a, const struct words *b)
{
    for (size_t i = 0; i < a->n; i++) {
        size_t n = strcspn(a->v[i], "=");
        for (size_t k = 0; k < b->n && a->v[i][n]; k++)
            if (!strncmp(a->v[i], b->v[k], n + 1) && !same_value(a->v[i] + n + 1, b->v[k] + n + 1))
                return false;
    }
    return true;
}

/* A config can ask only for what today's plugin has: cells of an earlier version, whose parameters,
 * choices or defaults may have gone, are not held against it. */
static bool of_another_version(const struct recorded *r, const struct plan *p)
{
    return r->plugin && *r->plugin && p->plugin && strcmp(r->plugin, p->plugin->wl.version) != 0;
}

static void compare_plan(const struct recorded *r, const struct plan *p, bool *requested)
{
    AUTO_FREE struct words *planned = xcalloc(p->n_cells + 1, sizeof *planned);
    for (size_t i = 0; i < p->n_cells; i++)
        words_split(&planned[i], p->cells[i].params, ' ');
    for (size_t c = 0; c < r->n_cells; c++) {
        AUTO_WORDS struct words w = {0};
        words_split(&w, r->cells[c].params, ' ');
        for (size_t i = 0; i < p->n_cells && !requested[c]; i++)
            requested[c] = of_another_version(r, p) || !strcmp(p->cells[i].id, r->cells[c].id) ||
                           agree(&w, &planned[i]);
    }
    for (size_t i = 0; i < p->n_cells; i++)
        words_free(&planned[i]);
}

char *config_match_path(const struct recorded *r, const char *configs,
                        const char *const **overrides)
{
    char why[512];
    char *path = xstrfmt("%s/%s.ini", configs, r->platform);
    *overrides = NULL;
    if (!access(path, F_OK) || !r->overrides)
        return path;
    AUTO_FREE char *recorded = xstrfmt("%s/config.ini", r->dir);
    struct config *config;
    struct settings set;
    err_capture(why, sizeof why);
    if (!config_load(&config, recorded, NULL)) {
        if (!settings_read(config, &set) && strcmp(set.platform.name, r->platform) != 0) {
            free(path);
            path = xstrfmt("%s/%s.ini", configs, set.platform.name);
            *overrides = (const char *const *)r->overrides;
        }
        config_free(config);
    }
    err_capture(NULL, 0);
    return path;
}

/* The plan; or NULL if the section is gone or cannot be planned. Errors are reported. */
static struct plan *plan_today(const struct recorded *r, const char *path,
                               const char *const *overrides)
{
    struct config *config;
    struct plan *plan = NULL;
    if (config_load(&config, path, overrides))
        return NULL;
    AUTO_FREE char *section =
        *r->label ? xstrfmt("%s %s", r->workload, r->label) : xstrdup(r->workload);
    if (!config_section(config, section))
        config_free(config);
    else if (plan_build(&plan, config, section)) /* which owns the config */
        plan = NULL;
    return plan;
}

int64_t config_match_cells(const struct recorded *r, const char *path, const char *const *overrides,
                           bool *requested, char **why)
{
    char said[512] = "";
    *why = NULL;
    /* Their cells come from the command line and from a config of any name. */
    if (!strcmp(r->workload, "trial") || !strcmp(r->workload, "train")) {
        for (size_t i = 0; i < r->n_cells; i++)
            requested[i] = true;
        return 0;
    }
    err_capture_first(said, sizeof said);
    struct plan *plan = plan_today(r, path, overrides);
    err_capture(NULL, 0);
    *why = !plan && *said ? xstrdup(said) : NULL;
    if (!plan)
        return 0;
    compare_plan(r, plan, requested);
    int64_t launches = plan->set.measure.launches;
    plan_free(plan);
    return launches;
}
