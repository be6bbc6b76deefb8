/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/reduce.h"

#include "base/err.h"
#include "base/text.h"
#include "record/runs.h"
#include "reduce/classic.h"
#include "reduce/iteration.h"
#include "reduce/measured.h"
#include "reduce/tables.h"

#include <stdlib.h>
#include <string.h>

struct reduction {
    struct tables *tables;
    const struct recorded *r;
    struct classic classic;
    bool classic_files;
    struct summary *cells; /* all cells of the run, for the classic table */
    struct text prefix;
    int unwritten; /* the error code of a file that cannot be written */
};

/* ---- a run ---- */

static void take_block(void *ctx, const struct rec_cell *cell, int copy, int launch, int number,
                       const uint64_t *time_ns, size_t n, uint64_t iters)
{
    struct reduction *d = ctx;
    const struct recorded *r = d->r;
    struct text *t = &d->prefix;
    text_clear(t);
    csv_prefix_text(t, r->run_id);
    csv_prefix_integer(t, launch);
    csv_prefix_integer(t, number);
    csv_prefix_text(t, cell->id);
    csv_prefix_text(t, r->platform);
    csv_prefix_text(t, r->workload);
    csv_prefix_text(t, cell->config);
    csv_prefix_text(t, cell->mode);
    csv_prefix_integer(t, copy);
    csv_prefix_integer(t, r->ranks);
    csv_prefix_integer(t, r->nodes);
    csv_prefix_integer(t, cell->size_B);
    csv_samples(&d->tables->csv[SAMPLES], t->s, t->len, time_ns, n, iters);
    if (copy == 0 && d->classic_files && !d->unwritten)
        d->unwritten = classic_block(&d->classic, cell, time_ns, n, iters);
}

static int reduce_group(struct reduction *d, size_t group)
{
    const struct recorded *r = d->r;
    struct csv *csv = d->tables->csv;
    struct gathered g;
    int code = gather_group(r, group, &(struct gather_sink){take_block, d}, &g);
    if (code)
        return code;
    for (size_t i = 0; i < g.n; i++) {
        const struct series *s = &g.series[i];
        if (s->copy)
            continue;
        d->cells[s->cell] = summary_of(r, s);
        summary_row(&csv[SUMMARY], r, &g, s, &d->cells[s->cell]);
        metrics_rows(&csv[METRICS], r, s);
        launches_rows(&csv[LAUNCHES], r, s);
    }
    iteration_rows(&csv[ITERATION], r, &g);
    code = wan_rows(&csv[WAN], r, &g);
    gathered_free(r, &g);
    if (!code && d->classic_files && !d->unwritten)
        d->unwritten = classic_group(&d->classic);
    return code ? code : d->unwritten;
}

int reduce_recorded(const struct recorded *r, struct tables *tables)
{
    struct reduction d = {.tables = tables, .r = r};
    int code = GS_OK;
    d.cells = xcalloc(r->n_cells, sizeof *d.cells);
    for (size_t g = 0; g < r->n_groups && !code; g++)
        code = reduce_group(&d, g);
    text_free(&d.prefix);
    free(d.cells);
    return code;
}

/* *unwritten: the code, when it is the output that failed, and the next run's would as well. */
static int reduce_into(struct tables *tables, const char *dir, const char *out, int *unwritten)
{
    AUTO(recorded_free_of) struct recorded *r = NULL;
    int code = recorded_read(&r, dir);
    if (code || !r)
        return code;
    struct reduction d = {.tables = tables, .r = r, .classic_files = true};
    d.cells = xcalloc(r->n_cells, sizeof *d.cells);
    classic_open(&d.classic, r, out);
    for (size_t g = 0; g < r->n_groups && !code; g++)
        code = reduce_group(&d, g);
    if (!code)
        code = d.unwritten = classic_table(&d.classic, d.cells);
    *unwritten = d.unwritten;
    classic_close(&d.classic);
    text_free(&d.prefix);
    free(d.cells);
    return code;
}

/* ---- runs ---- */

static int reduce_runs(const struct runs *runs, const char *out)
{
    struct tables tables;
    int code = tables_open(&tables, out), unwritten = GS_OK;
    if (code)
        return code;
    for (size_t i = 0; i < runs->n && !unwritten;
         i++) { /* continues after a damaged one, to name all */
        int one = reduce_into(&tables, runs->v[i].dir, out, &unwritten);
        code = code ? code : one;
    }
    int closed = tables_close(&tables, !code);
    return code ? code : closed;
}

int reduce_trees(const char *const *roots, size_t n, const char *out)
{
    AUTO(runs_free) struct runs runs = {0};
    int code = runs_below(&runs, roots, n);
    if (!code)
        code = reduce_runs(&runs, out);
    for (size_t i = 0; !code && i < runs.n; i++)
        if (!run_is_final(runs.v[i].dir))
            say("unfinished: %s: its tables are incomplete; 'gradsync show' names the missing "
                "cells",
                runs.v[i].dir);
    return code;
}

static int write_key(const struct run_folder *run, const char *out)
{
    struct csv file;
    AUTO_FREE char *path = xstrfmt("%s/%s", out, REDUCE_KEY);
    int code = csv_open(&file, path);
    if (!code) {
        csv_bytes(&file, run->key, strlen(run->key));
        code = csv_close(&file, true);
    }
    return code;
}

int reduce_run(const char *run, const char *out)
{
    AUTO(runs_free) struct runs runs = {0};
    int code = runs_add(&runs, run);
    if (!code)
        code = reduce_runs(&runs, out);
    return code ? code : write_key(&runs.v[0], out);
}
