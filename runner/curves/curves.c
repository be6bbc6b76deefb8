/* SPDX-License-Identifier: Apache-2.0 */
#include "curves/curves.h"

#include "base/csv_read.h"
#include "base/text.h"
#include "compare/alike.h"

#include <stdlib.h>
#include <string.h>

enum column {
    RUN_ID,
    PLATFORM,
    WORKLOAD,
    LABEL,
    CONFIG,
    MODE,
    RANKS,
    NODES,
    SIZE,
    PARAMS,
    LAUNCH,
    MEDIAN,
    RAN
};
static const char *const columns[] = {"run_id", "platform", "workload", "label",  "config",
                                      "mode",   "ranks",    "nodes",    "size_B", "params",
                                      "launch", "median_s", "ran",      NULL};

/* Parameters that do not distinguish curves. */
static const char *const along[] = {"size", "config", NULL};
/* The modes without computation: t = a + n/b is a model of communication. */
static const char *const modes[] = {"", "comm"};

/* ---- rows to curves ---- */

static bool is_group(const struct curve_rows *g, const struct csv_reader *r, const char *params)
{
    static const enum column names[] = {PLATFORM, WORKLOAD, LABEL, CONFIG, MODE};
    for (size_t i = 0; i < 5; i++)
        if (strcmp(g->names[i], csv_read_text(r, names[i])))
            return false;
    return !strcmp(g->params, params) && g->ranks == csv_read_integer(r, RANKS) &&
           g->nodes == csv_read_integer(r, NODES);
}

static struct curve_rows *group_of(struct curves *all, const struct csv_reader *r)
{
    static const enum column names[] = {PLATFORM, WORKLOAD, LABEL, CONFIG, MODE};
    char *params = alike_without(csv_read_text(r, PARAMS), along);
    for (size_t i = all->n; i-- > 0;) {
        if (is_group(&all->v[i], r, params)) {
            free(params);
            return &all->v[i];
        }
    }
    struct curve_rows *g = &APPEND(all->v, all->n);
    *g = (struct curve_rows){
        .params = params, .ranks = csv_read_integer(r, RANKS), .nodes = csv_read_integer(r, NODES)};
    for (size_t i = 0; i < 5; i++)
        g->names[i] = xstrdup(csv_read_text(r, names[i]));
    return g;
}

/* The index of the text in a list of distinct texts; added if new. */
static size_t index_in(char ***list, size_t *n, const char *text)
{
    size_t i = 0;
    while (i < *n && strcmp((*list)[i], text))
        i++;
    if (i == *n)
        APPEND(*list, *n) = xstrdup(text);
    return i;
}

static size_t replicate_of(struct curve_rows *g, const struct csv_reader *r)
{
    AUTO_FREE char *name = xstrfmt("%s %s", csv_read_text(r, RUN_ID), csv_read_text(r, LAUNCH));
    return index_in(&g->replicates, &g->n_replicates, name);
}

static bool is_exchange(const char *mode)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(mode, modes[i]))
            return true;
    return false;
}

static void take_row(void *ctx, const struct csv_reader *r)
{
    struct curves *all = ctx;
    struct sample s = {.size = csv_read_real(r, SIZE), .time = csv_read_real(r, MEDIAN)};
    if (!(s.size > 0 && s.time > 0) || !is_exchange(csv_read_text(r, MODE)))
        return;
    struct curve_rows *g = group_of(all, r);
    s.replicate = replicate_of(g, r);
    s.ran = index_in(&g->ran, &g->n_ran, csv_read_text(r, RAN));
    APPEND(g->samples, g->n) = s;
}

int curves_read(struct curves *all, const char *dir)
{
    AUTO_FREE char *path = xstrfmt("%s/launches.csv", dir);
    *all = (struct curves){0};
    return csv_read_each(path, columns, take_row, all);
}

void curves_free(struct curves *all)
{
    for (size_t i = 0; i < all->n; i++) {
        struct curve_rows *g = &all->v[i];
        for (size_t k = 0; k < 5; k++)
            free(g->names[k]);
        for (size_t k = 0; k < g->n_replicates; k++)
            free(g->replicates[k]);
        for (size_t k = 0; k < g->n_ran; k++)
            free(g->ran[k]);
        free(g->replicates);
        free(g->ran);
        free(g->params);
        free(g->samples);
    }
    free(all->v);
}

/* ---- a curve ---- */

static int by_size(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->replicate < y->replicate ? -1 : x->replicate > y->replicate;
}

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
    qsort(g->samples, g->n, sizeof *g->samples, by_size);
    for (size_t first = 0, end; first < g->n; first = end) {
        size_t found = 0;
        for (end = first; end < g->n && g->samples[end].size == g->samples[first].size; end++) {
            size_t r = place[g->samples[end].replicate];
            bool again = end > first && g->samples[end].replicate == g->samples[end - 1].replicate;
            if (r == SIZE_MAX || again)
                continue;
            out.time[r * out.n_max + out.n] = g->samples[end].time;
            out.ran[r * out.n_max + out.n] = g->ran[g->samples[end].ran];
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
