/* SPDX-License-Identifier: Apache-2.0 */
#include "err.h"
#include "paper/machine.h"
#include "paper/shelf.h"
#include "plan.h"
#include "record.h"
#include "runs.h"
#include "settings.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- runs ---- */

/* The columns after the machine's, which machine.c names. */
enum { RUN_LAUNCHES = MACHINE_FACTS, RUN_FINISHED, RUN_PATH, RUN_COLUMNS };
static const char *const run_rest[] = {"launches", "finished", "path"};

static int add_run(struct grid *g, const char *dir)
{
    struct machine m;
    const char *fields[RUN_COLUMNS];
    char *manifest = xstrfmt("%s/%s", dir, RECORD_MANIFEST), launches[24];
    int code = machine_of_run(&m, dir);
    if (!code && m.files) {
        for (size_t i = 0; i < MACHINE_FACTS; i++)
            fields[i] = m.facts[i];
        snprintf(launches, sizeof launches, "%d", m.launches);
        fields[RUN_LAUNCHES] = launches;
        fields[RUN_FINISHED] = access(manifest, F_OK) ? "no" : "yes";
        fields[RUN_PATH] = dir;
        grid_add(g, (long)g->n + 1, fields);
    }
    machine_free(&m);
    free(manifest);
    return code;
}

int shelf_runs(struct grid **out, const char *raw)
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
        code = add_run(g, runs.v[i].dir);
    runs_free(&runs);
    if (code)
        grid_free(g);
    else
        *out = g;
    return code;
}

/* ---- settings ---- */

struct grid *shelf_settings(void)
{
    static const char *const columns[] = {"section", "key", "value", "unit", "help", NULL};
    struct grid *g = grid_new("settings", "gradsync itself", columns);
    for (const struct settings_section *s = settings_sections; s->name; s++)
        for (const struct wl_param *p = s->table; p && p->name; p++)
            grid_add(g, (long)g->n + 1,
                     (const char *const[]){s->name, p->name, p->def, p->unit, p->help});
    return g;
}
