/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/iteration.h"

#include "base/stats.h"
#include "base/text.h"
#include "reduce/launches.h"
#include "reduce/remarks.h"
#include "reduce/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum part { COMPUTE, COMM, SEQUENTIAL, OVERLAPPED, PARTS };
const char *const iteration_modes[PARTS + 1] = {"compute", "comm", "sequential", "overlapped"};

enum value { A, B, C, D, EXPOSED, HIDDEN, OVERLAP, VALUES };

bool iteration_is_step(const struct rec_cell *cell)
{
    return !strcmp(cell->mode, iteration_modes[OVERLAPPED]);
}

/* Copy 0 of the config's cell of that mode. Compute alone does not depend on the config, so a group
 * may have one such cell for all configs. */
static const struct series *find(const struct recorded *r, const struct gathered *g,
                                 const char *config, enum part part)
{
    const struct series *any = NULL;
    for (size_t i = 0; i < g->n; i++) {
        const struct rec_cell *c = &r->cells[g->series[i].cell];
        if (g->series[i].copy || strcmp(c->mode, iteration_modes[part]))
            continue;
        if (!strcmp(c->config, config))
            return &g->series[i];
        any = &g->series[i];
    }
    return part == COMPUTE ? any : NULL;
}

static double clip(double v, double lo, double hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static void values_of(const double t[PARTS], double v[VALUES])
{
    double a = t[COMPUTE], b = t[COMM], exposed = t[OVERLAPPED] - a;
    v[A] = a;
    v[B] = b;
    v[C] = t[SEQUENTIAL];
    v[D] = t[OVERLAPPED];
    v[EXPOSED] = exposed;
    v[HIDDEN] = clip(b - exposed, 0, b);
    v[OVERLAP] = (t[SEQUENTIAL] - t[OVERLAPPED]) / (a < b ? a : b);
}

struct decomposition {
    struct estimate values[VALUES];
    size_t blocks;
    int launches;
};

/* The values of each block that all four modes have and that is warm-up in none. */
static size_t paired(const struct series *const part[PARTS], struct nested *x[VALUES])
{
    size_t n = 0, from[PARTS] = {0};
    for (size_t i = 0; i < part[OVERLAPPED]->n_blocks; i++) {
        const struct block *d = &part[OVERLAPPED]->blocks[i];
        double t[PARTS], v[VALUES];
        bool all = true;
        for (int k = 0; k < PARTS && all; k++) {
            const struct block *b = series_block(part[k], d->launch, d->number, &from[k]);
            all = b && !b->warm;
            t[k] = b ? b->time_s : NAN;
        }
        if (!all)
            continue;
        values_of(t, v);
        for (int k = 0; k < VALUES; k++)
            x[k][n] = (struct nested){.launch = d->launch, .value = v[k]};
        n++;
    }
    return n;
}

static struct decomposition decompose(const struct recorded *r,
                                      const struct series *const part[PARTS])
{
    struct decomposition d = {0};
    struct nested *x[VALUES];
    for (int k = 0; k < VALUES; k++)
        x[k] = xmalloc(part[OVERLAPPED]->n_blocks * sizeof **x);
    d.blocks = paired(part, x);
    for (size_t i = 0; i < d.blocks; i++)
        d.launches += i == 0 || x[A][i].launch != x[A][i - 1].launch;
    for (int k = 0; k < VALUES; k++) {
        d.values[k] = estimate_median(x[k], d.blocks, r->seed, r->cells[part[OVERLAPPED]->cell].id);
        free(x[k]);
    }
    return d;
}

const char iteration_columns[] =
    "run_id,platform,workload,label,config,ranks,nodes,size_B,params,launches,blocks,compute_s,"
    "comm_s,sequential_s,overlapped_s,overlapped_ci_low_s,overlapped_ci_high_s,exposed_s,"
    "exposed_ci_low_s,exposed_ci_high_s,hidden_s,overlap,overlap_ci_low,overlap_ci_high,throttled,"
    "note";

/* Below this share of compute, the noise of C - D is larger than the communication. */
#define OVERLAP_LEAST 0.01

static void overlap_fields(struct csv *c, const struct estimate *v)
{
    const struct estimate *o = &v[OVERLAP];
    bool told = v[B].median >= OVERLAP_LEAST * v[A].median;
    CSV_REALS(c, told ? o->median : NAN, told ? o->lo : NAN, told ? o->hi : NAN);
}

static void row(struct csv *c, const struct recorded *r, const struct gathered *g,
                const struct rec_cell *cell, const struct decomposition *d)
{
    const struct estimate *v = d->values;
    CSV_TEXTS(c, r->run_id, r->platform, r->workload, r->label, cell->config);
    CSV_INTEGERS(c, r->ranks, r->nodes, cell->size_B);
    csv_text(c, cell->params);
    csv_integer(c, d->launches);
    csv_integer(c, (int64_t)d->blocks);
    CSV_REALS(c, v[A].median, v[B].median, v[C].median, v[D].median, v[D].lo, v[D].hi,
              v[EXPOSED].median, v[EXPOSED].lo, v[EXPOSED].hi, v[HIDDEN].median);
    overlap_fields(c, v);
    csv_real(c, gathered_throttled(g));
    AUTO_FREE char *throttled = remarks_throttled(g), *left_out = launches_out_text(g);
    AUTO_FREE char *note =
        xstrfmt("%s%s%s", left_out, *left_out && *throttled ? "; " : "", throttled);
    csv_text(c, note);
    csv_end(c);
}

void iteration_rows(struct csv *c, const struct recorded *r, const struct gathered *g)
{
    for (size_t i = 0; i < g->n; i++) {
        const struct series *s = &g->series[i];
        const struct rec_cell *cell = &r->cells[s->cell];
        if (s->copy || !iteration_is_step(cell))
            continue;
        const struct series *part[PARTS];
        bool all = true;
        for (int k = 0; k < PARTS; k++) {
            part[k] = find(r, g, cell->config, (enum part)k);
            all = all && part[k] && series_status(r, part[k]).numbers;
        }
        struct decomposition d = all ? decompose(r, part) : (struct decomposition){0};
        if (d.blocks)
            row(c, r, g, cell, &d);
    }
}
