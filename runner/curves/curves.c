/* SPDX-License-Identifier: Apache-2.0 */
#include "curves/curves.h"

#include "base/text.h"
#include "compare/alike.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows to curves ---- */

const char curves_reads[] =
    "run_id,platform,workload,label,config,mode,ranks,nodes,size_B,params,launch,median_s,ran";

/* Curves in the order of their first rows, each by size, then replicate. Only modes without
 * computation: t = a + n/b is a model of communication. */
static const char query[] =
    "SELECT curve, platform, workload, label, config, mode, along, ranks, nodes, size_B, median_s, "
    "ran, dense_rank() OVER (PARTITION BY curve ORDER BY began) - 1 AS replicate FROM ("
    "SELECT *, min(at) OVER curve AS curve, min(at) OVER (PARTITION BY platform, workload, label, "
    "config, mode, along, ranks, nodes, run_id, launch) AS began FROM ("
    "SELECT *, rowid AS at, along(params) AS along FROM launches "
    "WHERE size_B > 0 AND median_s > 0 AND mode IN ('', 'comm')) "
    "WINDOW curve AS (PARTITION BY platform, workload, label, config, mode, along, ranks, nodes)) "
    "ORDER BY curve, size_B, replicate, at";
enum { CURVE, NAMES, PARAMS = NAMES + 5, RANKS, NODES, SIZE, TIME, RAN, REPLICATE };

/* The parameters without those that differ along a curve. */
static void sql_along(sqlite3_context *c, int n, sqlite3_value **v)
{
    static const char *const along[] = {"size", "config", NULL};
    const char *params = (const char *)sqlite3_value_text(v[0]);
    (void)n;
    sqlite3_result_text(c, alike_without(params ? params : "", along), -1, free);
}

struct reading {
    struct curves *all;
    sqlite3_int64 curve; /* of the last row; 0: none yet */
};

static void take_row(void *ctx, sqlite3_stmt *st)
{
    struct reading *r = ctx;
    struct curves *all = r->all;
    if (sqlite3_column_int64(st, CURVE) != r->curve) {
        struct curve_rows *new = &APPEND(all->v, all->n);
        *new = (struct curve_rows){.params = xstrdup(store_text(st, PARAMS)),
                                   .ranks = sqlite3_column_int64(st, RANKS),
                                   .nodes = sqlite3_column_int64(st, NODES)};
        for (int i = 0; i < 5; i++)
            new->names[i] = xstrdup(store_text(st, NAMES + i));
    }
    r->curve = sqlite3_column_int64(st, CURVE);
    struct curve_rows *g = &all->v[all->n - 1];
    struct sample s = {.size = sqlite3_column_double(st, SIZE),
                       .time = sqlite3_column_double(st, TIME),
                       .replicate = (size_t)sqlite3_column_int64(st, REPLICATE),
                       .ran = xstrdup(store_text(st, RAN))};
    if (s.replicate >= g->n_replicates)
        g->n_replicates = s.replicate + 1;
    APPEND(g->samples, g->n) = s;
}

int curves_read(struct curves *all, struct store *s)
{
    struct reading r = {.all = all};
    *all = (struct curves){0};
    if (sqlite3_create_function(s->db, "along", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                sql_along, NULL, NULL))
        return store_failed(s);
    return store_each(s, query, take_row, &r);
}

void curves_free(struct curves *all)
{
    for (size_t i = 0; i < all->n; i++) {
        struct curve_rows *g = &all->v[i];
        for (size_t k = 0; k < 5; k++)
            free(g->names[k]);
        for (size_t k = 0; k < g->n; k++)
            free(g->samples[k].ran);
        free(g->params);
        free(g->samples);
    }
    free(all->v);
}

/* ---- a curve ---- */

/* The grid has the sizes of all replicates, so one that lacks sizes would shrink it. It is left out if
 * it lacks more than half, or if most of the others lack none. */
static size_t keep_replicates(const struct curve_rows *g, size_t *place)
{
    AUTO_FREE size_t *count = xcalloc(g->n_replicates, sizeof *count);
    size_t most = 0, whole = 0, half = 0, kept = 0;
    for (size_t i = 0; i < g->n; i++)
        count[g->samples[i].replicate]++;
    for (size_t r = 0; r < g->n_replicates; r++)
        most = count[r] > most ? count[r] : most;
    for (size_t r = 0; r < g->n_replicates; r++) {
        whole += count[r] == most;
        half += 2 * count[r] >= most;
    }
    size_t least = 2 * whole > half ? most : (most + 1) / 2;
    for (size_t r = 0; r < g->n_replicates; r++)
        place[r] = count[r] >= least ? kept++ : SIZE_MAX;
    return kept;
}

struct curve_grid curve_grid_of(struct curve_rows *g)
{
    AUTO_FREE size_t *place = xmalloc(g->n_replicates * sizeof *place);
    struct curve_grid out = {.n_max = g->n, .replicates = keep_replicates(g, place)};
    out.size = xmalloc(g->n * sizeof *out.size);
    out.time = xmalloc(g->n * out.replicates * sizeof *out.time);
    out.rows = xmalloc(out.replicates * sizeof *out.rows);
    out.ran = xmalloc(g->n * out.replicates * sizeof *out.ran);
    out.known = true;
    for (size_t first = 0, end; first < g->n; first = end) {
        size_t found = 0;
        for (end = first; end < g->n && g->samples[end].size == g->samples[first].size; end++) {
            size_t r = place[g->samples[end].replicate];
            bool again = end > first && g->samples[end].replicate == g->samples[end - 1].replicate;
            if (r == SIZE_MAX || again)
                continue;
            out.time[r * out.n_max + out.n] = g->samples[end].time;
            out.ran[r * out.n_max + out.n] = g->samples[end].ran;
            found++;
        }
        if (found == out.replicates)
            out.size[out.n++] = g->samples[first].size;
    }
    for (size_t r = 0; r < out.replicates; r++) {
        out.rows[r] = out.time + r * out.n_max;
        for (size_t i = 0; i < out.n; i++)
            out.known = out.known && *out.ran[r * out.n_max + i];
    }
    return out;
}

void curve_grid_free(struct curve_grid *g)
{
    free(g->size);
    free(g->time);
    free(g->rows);
    free(g->ran);
}
