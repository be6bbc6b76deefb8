/* SPDX-License-Identifier: Apache-2.0
 *
 * launches.csv to curves, and what was found in them to transitions.csv.
 */
#include "alike.h"
#include "csv.h"
#include "csv_read.h"
#include "err.h"
#include "transitions.h"

#include <math.h>
#include <stdio.h>
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
    MEDIAN
};
static const char *const columns[] = {"run_id", "platform", "workload", "label",  "config",
                                      "mode",   "ranks",    "nodes",    "size_B", "params",
                                      "launch", "median_s", NULL};

/* Parameters that do not tell curves apart. */
static const char *const along[] = {"size", "config", "in_place", NULL};
/* The modes whose time is an exchange's alone: t = a + n/b says nothing of computation. */
static const char *const modes[] = {"", "comm"};

struct sample { /* one measured time of a curve */
    double size, time;
    size_t replicate;
};

struct group {      /* the curve, as its rows come in */
    char *names[5]; /* platform, workload, label, config, mode */
    char *params;
    int64_t ranks, nodes;
    char **replicates; /* run, launch and column */
    size_t n_replicates;
    struct sample *samples;
    size_t n;
};

struct groups {
    struct group *v;
    size_t n;
};

/* ---- rows to curves ---- */

/* "in_place=yes", or "". */
static char *place_of(const char *params)
{
    const char *at = strstr(params, "in_place=");
    return at ? xstrfmt("%.*s", (int)strcspn(at, " "), at) : xstrdup("");
}

static bool is_group(const struct group *g, const struct csv_reader *r, const char *params)
{
    static const enum column names[] = {PLATFORM, WORKLOAD, LABEL, CONFIG, MODE};
    for (size_t i = 0; i < 5; i++)
        if (strcmp(g->names[i], csv_read_text(r, names[i])))
            return false;
    return !strcmp(g->params, params) && g->ranks == csv_read_integer(r, RANKS) &&
           g->nodes == csv_read_integer(r, NODES);
}

static struct group *group_of(struct groups *all, const struct csv_reader *r)
{
    static const enum column names[] = {PLATFORM, WORKLOAD, LABEL, CONFIG, MODE};
    char *params = alike_without(csv_read_text(r, PARAMS), along);
    for (size_t i = all->n; i-- > 0;) {
        if (is_group(&all->v[i], r, params)) {
            free(params);
            return &all->v[i];
        }
    }
    all->v = xrealloc(all->v, (all->n + 1) * sizeof *all->v);
    struct group *g = &all->v[all->n++];
    *g = (struct group){
        .params = params, .ranks = csv_read_integer(r, RANKS), .nodes = csv_read_integer(r, NODES)};
    for (size_t i = 0; i < 5; i++)
        g->names[i] = xstrdup(csv_read_text(r, names[i]));
    return g;
}

static size_t replicate_of(struct group *g, const struct csv_reader *r)
{
    char *place = place_of(csv_read_text(r, PARAMS));
    char *name = xstrfmt("%s %s %s", csv_read_text(r, RUN_ID), csv_read_text(r, LAUNCH), place);
    size_t i = 0;
    free(place);
    while (i < g->n_replicates && strcmp(g->replicates[i], name))
        i++;
    if (i == g->n_replicates) {
        g->replicates = xrealloc(g->replicates, (i + 1) * sizeof *g->replicates);
        g->replicates[g->n_replicates++] = xstrdup(name);
    }
    free(name);
    return i;
}

static bool is_exchange(const char *mode)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(mode, modes[i]))
            return true;
    return false;
}

static void take_row(struct groups *all, const struct csv_reader *r)
{
    struct sample s = {csv_read_real(r, SIZE), csv_read_real(r, MEDIAN), 0};
    if (!(s.size > 0 && s.time > 0) || !is_exchange(csv_read_text(r, MODE)))
        return;
    struct group *g = group_of(all, r);
    s.replicate = replicate_of(g, r);
    g->samples = xrealloc(g->samples, (g->n + 1) * sizeof *g->samples);
    g->samples[g->n++] = s;
}

static int read_groups(struct groups *all, const char *dir)
{
    struct csv_reader r;
    char *path = xstrfmt("%s/launches.csv", dir);
    int code = csv_read_open(&r, path, columns);
    bool got = !code;
    while (got) {
        code = csv_read_row(&r, &got);
        got = got && !code;
        if (got)
            take_row(all, &r);
    }
    csv_read_close(&r);
    free(path);
    return code;
}

static void groups_free(struct groups *all)
{
    for (size_t i = 0; i < all->n; i++) {
        struct group *g = &all->v[i];
        for (size_t k = 0; k < 5; k++)
            free(g->names[k]);
        for (size_t k = 0; k < g->n_replicates; k++)
            free(g->replicates[k]);
        free(g->replicates);
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

struct grid { /* the sizes that every replicate has, and its times there; size[n], time[r * n_max]
               */
    double *size, *time;
    const double **rows;
    size_t n, n_max, replicates;
};

/* A replicate with less than half of the sizes would take the others' from them. */
static size_t keep_replicates(const struct group *g, size_t *place)
{
    size_t *count = xcalloc(g->n_replicates, sizeof *count), most = 0, kept = 0;
    for (size_t i = 0; i < g->n; i++)
        count[g->samples[i].replicate]++;
    for (size_t r = 0; r < g->n_replicates; r++)
        most = count[r] > most ? count[r] : most;
    for (size_t r = 0; r < g->n_replicates; r++)
        place[r] = 2 * count[r] >= most ? kept++ : SIZE_MAX;
    free(count);
    return kept;
}

static struct grid grid_of(struct group *g)
{
    size_t *place = xmalloc(g->n_replicates * sizeof *place);
    struct grid out = {.n_max = g->n, .replicates = keep_replicates(g, place)};
    out.size = xmalloc(g->n * sizeof *out.size);
    out.time = xmalloc(g->n * out.replicates * sizeof *out.time);
    out.rows = xmalloc(out.replicates * sizeof *out.rows);
    qsort(g->samples, g->n, sizeof *g->samples, by_size);
    for (size_t first = 0, end; first < g->n; first = end) {
        size_t found = 0;
        for (end = first; end < g->n && g->samples[end].size == g->samples[first].size; end++) {
            size_t r = place[g->samples[end].replicate];
            bool again = end > first && g->samples[end].replicate == g->samples[end - 1].replicate;
            if (r == SIZE_MAX || again)
                continue;
            out.time[r * out.n_max + out.n] = g->samples[end].time;
            found++;
        }
        if (found == out.replicates)
            out.size[out.n++] = g->samples[first].size;
    }
    for (size_t r = 0; r < out.replicates; r++)
        out.rows[r] = out.time + r * out.n_max;
    free(place);
    return out;
}

/* ---- rows ---- */

static const char transitions_columns[] =
    "platform,workload,label,config,mode,params,ranks,nodes,kind,size_B,from_B,to_B,before_a_s,"
    "before_b_Bps,after_a_s,after_b_Bps,change,agree,replicates,verdict,fit_error,"
    "fit_error_out,reason";

/* Sizes between two measured ones are rounded to bytes; a bandwidth without end is an empty field.
 */
static void write_one(struct csv *c, const struct group *g, const struct transitions *t,
                      const struct transition *one)
{
    for (size_t i = 0; i < 5; i++)
        csv_text(c, g->names[i]);
    csv_text(c, g->params);
    csv_integer(c, g->ranks);
    csv_integer(c, g->nodes);
    csv_text(c, transition_names[one->kind]);
    csv_integer(c, llround(one->size));
    csv_integer(c, llround(one->low));
    csv_integer(c, llround(one->high));
    const double real[] = {one->before.a_s, one->before.b_Bps, one->after.a_s, one->after.b_Bps,
                           one->change};
    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        csv_real(c, isinf(real[i]) ? (double)NAN : real[i]);
    csv_integer(c, (int64_t)one->agree);
    csv_integer(c, (int64_t)t->replicates);
    csv_text(c, transition_verdict(t, one));
    csv_real(c, t->error_in);
    csv_real(c, t->error_out);
    csv_text(c, one->why);
    csv_end(c);
}

/* params has a protocol, and it is not auto. */
static bool protocol_is_fixed(const char *params)
{
    static const char key[] = "protocol=";
    const char *s = strstr(params, key);
    return s && strncmp(s + sizeof key - 1, "auto", 4);
}

static void write_group(struct csv *c, struct group *g, size_t *features)
{
    struct grid grid = grid_of(g);
    if (grid.n) {
        const struct curve curve = {grid.size, grid.n, grid.rows, grid.replicates,
                                    protocol_is_fixed(g->params)};
        struct transitions t = transitions_find(&curve);
        for (size_t i = 0; i < t.n; i++) {
            write_one(c, g, &t, &t.v[i]);
            *features += t.v[i].kind != TRANSITION_FIT && t.v[i].kind != TRANSITION_REFUSED;
        }
        transitions_free(&t);
    }
    free(grid.size);
    free(grid.time);
    free(grid.rows);
}

int transitions_write(const char *dir, size_t *features)
{
    struct groups all = {0};
    struct csv csv;
    size_t found = 0;
    int code = read_groups(&all, dir);
    char *path = xstrfmt("%s/%s", dir, TRANSITIONS_CSV);
    if (!code)
        code = csv_open(&csv, path);
    if (!code) {
        csv_header(&csv, transitions_columns);
        for (size_t i = 0; i < all.n; i++)
            write_group(&csv, &all.v[i], &found);
        code = csv_close(&csv, true);
    }
    if (features)
        *features = found;
    groups_free(&all);
    free(path);
    return code;
}
