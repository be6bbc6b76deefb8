/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/paper_tables.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "record/runs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a table by its name ---- */

int paper_tables_no_table(const struct paper_tables *s, const char *name, const char *path)
{
    AUTO_WORDS struct words w = {0};
    files_list(s->csv, "*.csv", &w);
    for (size_t i = 0; i < w.n; i++)
        w.v[i][strlen(w.v[i]) - strlen(".csv")] = '\0';
    const char *near = text_nearest(name, (const char *const *)w.v, w.n);
    AUTO_TEXT struct text names = {0};
    for (size_t i = 0; i < w.n; i++)
        text_addf(&names, "%s%s", i ? ", " : "", w.v[i]);
    return w.n ? fail(GS_USAGE,
                      "no table '%s': %s does not exist%s; the tables are %s ('make tables' makes "
                      "them, 'make paper' those of the paper)",
                      name, path, DID_YOU_MEAN(near), names.s)
               : fail(GS_USAGE,
                      "no table in %s; run 'make tables', or 'make paper' for those of the paper",
                      s->csv);
}

static int read_table(struct paper_tables *s, const char *name, struct grid **out)
{
    if (!strcmp(name, "runs"))
        return paper_tables_runs(out, s->raw);
    if (!strcmp(name, "asked"))
        return paper_tables_asked(out, s->configs);
    if (!strcmp(name, "settings")) {
        *out = paper_tables_settings();
        return GS_OK;
    }
    AUTO_FREE char *path = xstrfmt("%s/%s.csv", s->csv, name);
    return access(path, F_OK) ? paper_tables_no_table(s, name, path) : grid_read(out, name, path);
}

static enum grid_run state_of(const char *dir)
{
    return !runs_measured(dir) ? GRID_RUN_EMPTY
           : run_is_final(dir) ? GRID_RUN_FINISHED
                               : GRID_RUN_PART;
}

static void keep_latest(struct paper_tables *s, struct grid *g)
{
    AUTO_FREE enum grid_run *runs = xcalloc(g->n + 1, sizeof *runs);
    for (size_t i = 0; i < g->n && grid_has(g, "run_id"); i++) {
        /* Rows of a run stand together. */
        if (i && !strcmp(grid_text(g, i, "run_id"), grid_text(g, i - 1, "run_id"))) {
            runs[i] = runs[i - 1];
            continue;
        }
        AUTO_FREE char *dir = paper_tables_run(s, g, i, ROW_RUN);
        runs[i] = dir ? state_of(dir) : GRID_RUN_EMPTY;
    }
    grid_latest(g, runs);
}

int paper_tables_find(struct paper_tables *s, const char *name, const struct grid **out)
{
    struct grid *g = NULL;
    *out = NULL;
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->v[i]->name, name)) {
            *out = s->v[i];
            return GS_OK;
        }
    int code = read_table(s, name, &g);
    if (code)
        return code;
    if (strcmp(name, "placebo") != 0) /* how the method did counts in every recording */
        keep_latest(s, g);
    g->judged = xcalloc(g->n + 1, sizeof *g->judged);
    *out = APPEND(s->v, s->n) = g;
    return GS_OK;
}

void paper_tables_free(struct paper_tables *s)
{
    for (size_t i = 0; i < s->n; i++)
        grid_free(s->v[i]);
    free(s->v);
    s->v = NULL;
    s->n = 0;
}

/* ---- the run of a row ---- */

/* The latest finished one of a section, or the latest. */
static const char *latest_run(struct paper_tables *s, const struct grid *g, size_t row)
{
    static const char *const section[] = {"platform", "workload", "label"};
    const struct grid *runs;
    const char *best = NULL;
    bool best_finished = false;
    if (paper_tables_find(s, "runs", &runs))
        return NULL;
    for (size_t i = 0; i < runs->n; i++) {
        bool same = true;
        for (size_t k = 0; k < 3; k++)
            same = same && !strcmp(grid_text(runs, i, section[k]), grid_text(g, row, section[k]));
        bool finished = !strcmp(grid_text(runs, i, "finished"), "yes");
        const char *run = grid_text(runs, i, "run_id");
        if (same && (!best || finished > best_finished ||
                     (finished == best_finished && strcmp(run, best) > 0))) {
            best = run;
            best_finished = finished;
        }
    }
    return best;
}

/* The folder of a run that a table names without its workload. */
static const char *path_of_run(struct paper_tables *s, const struct grid *g, size_t row)
{
    const struct grid *runs;
    if (paper_tables_find(s, "runs", &runs))
        return NULL;
    for (size_t i = 0; i < runs->n; i++)
        if (!strcmp(grid_text(runs, i, "run_id"), grid_text(g, row, "run_id")) &&
            !strcmp(grid_text(runs, i, "platform"), grid_text(g, row, "platform")))
            return grid_text(runs, i, "path");
    return NULL;
}

char *paper_tables_run(struct paper_tables *s, const struct grid *g, size_t row, enum row_run which)
{
    const char *column = which == ROW_RUN ? "run_id" : "earlier_run_id";
    if (which != ROW_RUN && !grid_has(g, column))
        return NULL;
    if (!grid_has(g, "platform") || !(grid_has(g, "workload") || grid_has(g, "run_id")))
        return NULL;
    if (!grid_has(g, "workload")) {
        const char *path = path_of_run(s, g, row);
        return path ? xstrdup(path) : NULL;
    }
    const char *run = grid_has(g, column) ? grid_text(g, row, column) : latest_run(s, g, row);
    return run ? xstrfmt("%s/%s/%s/%s", s->raw, grid_text(g, row, "platform"),
                         grid_text(g, row, "workload"), run)
               : NULL;
}
