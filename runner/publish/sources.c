/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/plan.h"
#include "publish/paper_tables.h"
#include "record/check_run.h"
#include "record/machine.h"
#include "record/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs ---- */

/* The columns after the machine's, which machine.c names. */
enum { RUN_LAUNCHES = MACHINE_FACTS, RUN_FINISHED, RUN_PATH, RUN_COLUMNS };
static const char *const run_rest[] = {"launches", "finished", "path"};

static int add_run(struct grid *g, const char *dir)
{
    AUTO(machine_free) struct machine m = {0};
    const char *fields[RUN_COLUMNS];
    char launches[24];
    int code = machine_of_run(&m, dir);
    if (!code)
        code = check_recordings(dir);
    if (!code && m.files) {
        for (size_t i = 0; i < MACHINE_FACTS; i++)
            fields[i] = m.facts[i];
        snprintf(launches, sizeof launches, "%d", m.launches);
        fields[RUN_LAUNCHES] = launches;
        fields[RUN_FINISHED] = run_is_final(dir) ? "yes" : "no";
        fields[RUN_PATH] = dir;
        grid_add(g, (long)g->n + 1, fields);
    }
    return code;
}

int paper_tables_runs(struct grid **out, const char *raw)
{
    const char *columns[RUN_COLUMNS + 1] = {NULL};
    struct runs runs = {0};
    int code = runs_find(&runs, raw);
    for (size_t i = 0; i < RUN_COLUMNS; i++)
        columns[i] = i < MACHINE_FACTS ? machine_facts[i] : run_rest[i - MACHINE_FACTS];
    struct grid *g = grid_new("runs", raw, columns);
    if (!code)
        code = runs_sort(&runs);
    for (size_t i = 0; i < runs.n && !code; i++)
        code = runs_measured(runs.v[i].dir) ? add_run(g, runs.v[i].dir) : GS_OK;
    runs_free(&runs);
    if (code)
        grid_free(g);
    else
        *out = g;
    return code;
}

/* ---- settings ---- */

struct grid *paper_tables_settings(void)
{
    static const char *const columns[] = {"section", "key", "value", "unit", "help", NULL};
    struct grid *g = grid_new("settings", "gradsync itself", columns);
    for (const struct settings_section *s = settings_sections; s->name; s++)
        for (const struct wl_param *p = s->table; p && p->name; p++)
            grid_add(g, (long)g->n + 1,
                     (const char *const[]){s->name, p->name, p->def, p->unit, p->help});
    return g;
}

/* ---- asked ---- */

static int add_asked(struct grid *g, const char *configs, const char *file)
{
    struct config *c;
    AUTO_FREE char *path = xstrfmt("%s/%s", configs, file);
    AUTO_FREE char *platform = xstrfmt("%.*s", (int)(strlen(file) - strlen(".ini")), file);
    int code = config_load(&c, path, NULL);
    for (const struct settings_section *s = settings_sections; !code && s->name; s++)
        for (const struct wl_param *p = s->table; p && p->name; p++) {
            const struct config_entry *e = config_find(c, s->name, p->name);
            AUTO_FREE char *place =
                e ? xstrfmt("%s:%d", e->file, e->line) : xstrdup("the program's own");
            grid_add(
                g, (long)g->n + 1,
                (const char *const[]){platform, s->name, p->name, e ? e->value : p->def, place});
        }
    if (!code)
        config_free(c);
    return code;
}

int paper_tables_asked(struct grid **out, const char *configs)
{
    static const char *const columns[] = {"platform", "section", "key", "value", "place", NULL};
    AUTO_WORDS struct words files = {0};
    struct grid *g = grid_new("asked", configs, columns);
    int code = GS_OK;
    files_list(configs, "*.ini", &files);
    for (size_t i = 0; i < files.n && !code; i++)
        code = add_asked(g, configs, files.v[i]);
    if (code)
        grid_free(g);
    else
        *out = g;
    return code;
}
