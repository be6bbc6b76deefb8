/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/summary.h"

#include "base/err.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/units.h"
#include "reduce/gather.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- estimates ---- */

/* Replaces the blocks of a long launch by medians of runs of blocks. The bootstrap then costs the
 * same whatever the length, and its draws are closer to independent than single blocks are. */
static size_t batch(struct nested *x, size_t n)
{
    size_t out = 0;
    AUTO_FREE double *run = xmalloc(n * sizeof *run);
    for (size_t first = 0, end; first < n; first = end) {
        int launch = x[first].launch;
        for (end = first; end < n && x[end].launch == launch; end++)
            run[end - first] = x[end].value;
        size_t blocks = end - first, batches = blocks < SUMMARY_BATCHES ? blocks : SUMMARY_BATCHES;
        for (size_t b = 0; b < batches; b++) {
            size_t lo = b * blocks / batches, hi = (b + 1) * blocks / batches;
            x[out++] = (struct nested){.launch = launch,
                                       .value = stats_quantile_of(run + lo, hi - lo, 0.5)};
        }
    }
    return out;
}

static double median_of(const struct nested *x, size_t n)
{
    AUTO_FREE double *values = xmalloc((n + 1) * sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = x[i].value;
    return stats_quantile_of(values, n, 0.5);
}

struct estimate estimate_median(struct nested *x, size_t n, uint64_t seed, const char *cell)
{
    if (n == 0)
        return (struct estimate){NAN, NAN, NAN};
    struct estimate e = {median_of(x, n), NAN, NAN};
    if (x[0].launch != x[n - 1].launch) {
        struct rng rng;
        char stream[9];
        memcpy(stream, cell, 8);
        stream[8] = '\0';
        rng_stream(&rng, seed, strtoull(stream, NULL, 16));
        n = batch(x, n);
        bool differ = false; /* many metrics have one value in all blocks */
        for (size_t i = 1; i < n; i++)
            differ |= x[i].value != x[0].value;
        struct interval ci = {x[0].value, x[0].value, 0.95};
        if (differ)
            ci = stats_bootstrap_median(x, n, SUMMARY_DRAWS, 0.95, &rng);
        e.lo = ci.lo;
        e.hi = ci.hi;
    }
    return e;
}

/* ---- a cell ---- */

/* Of the blocks that are not warm-up. metric: one of series.metrics; NULL: the time. */
static struct estimate estimate_blocks(const struct recorded *r, const struct series *s,
                                       const double *metric)
{
    AUTO_FREE struct nested *x = xmalloc(s->n_blocks * sizeof *x);
    size_t n = 0;
    for (size_t i = 0; i < s->n_blocks; i++) {
        double v = metric ? metric[i] : s->blocks[i].time_s;
        if (!s->blocks[i].warm && !isnan(v))
            x[n++] = (struct nested){.launch = s->blocks[i].launch, .value = v};
    }
    return estimate_median(x, n, r->seed, r->cells[s->cell].id);
}

static double median_skew(const struct series *s)
{
    AUTO_FREE double *x = xmalloc(s->n_blocks * sizeof *x);
    size_t n = 0;
    for (size_t i = 0; i < s->n_blocks; i++)
        if (!s->blocks[i].warm && !isnan(s->blocks[i].skew_s))
            x[n++] = s->blocks[i].skew_s;
    return n ? stats_quantile_of(x, n, 0.5) : NAN;
}

struct summary summary_of(const struct recorded *r, const struct series *s)
{
    const struct rec_cell *c = &r->cells[s->cell];
    const double ps = 1e12; /* the unit of series.times */
    if (!series_status(r, s).numbers)
        return (struct summary){.time_s = {NAN, NAN, NAN}};
    size_t n = s->copy ? 0 : s->n_samples;
    struct summary m = {
        .time_s = estimate_blocks(r, s, NULL),
        .p95_s = stats_quantile(s->times, n, 0.95) / ps,
        .p99_s = stats_quantile(s->times, n, 0.99) / ps,
        .min_s = stats_quantile(s->times, n, 0) / ps,
        .skew_s = median_skew(s),
        .algbw = NAN,
        .busbw = NAN,
    };
    if (c->size_B > 0 && c->busbw_factor > 0) {
        m.algbw = (double)c->size_B / m.time_s.median;
        m.busbw = m.algbw * c->busbw_factor;
    }
    m.limit_fraction = m.busbw / r->limit;
    return m;
}

/* ---- rows ---- */

const char summary_columns[] =
    "run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,params,n,"
    "launches,blocks,warmup_blocks,median_s,ci_low_s,ci_high_s,p95_s,p99_s,min_s,"
    "algbw_Bps,busbw_Bps,limit_Bps,limit_fraction,skew_s,converged,status,reason,ran,"
    "iterations,throttled,note";

static void identity(struct csv *c, const struct recorded *r, const struct rec_cell *cell)
{
    CSV_TEXTS(c, r->run_id, r->platform, r->workload, r->label, cell->id, cell->config, cell->mode);
    CSV_INTEGERS(c, r->ranks, r->nodes, cell->size_B);
}

void summary_row(struct csv *c, const struct recorded *r, const struct gathered *g,
                 const struct series *s, const struct summary *m)
{
    const struct rec_cell *cell = &r->cells[s->cell];
    struct series_status o = series_status(r, s);
    identity(c, r, cell);
    csv_text(c, cell->params);
    if (o.numbers) {
        CSV_INTEGERS(c, (int64_t)s->n_samples, s->launches, (int64_t)(s->n_blocks - s->n_warm),
                     (int64_t)s->n_warm);
        CSV_REALS(c, m->time_s.median, m->time_s.lo, m->time_s.hi, m->p95_s, m->p99_s, m->min_s,
                  m->algbw, m->busbw, r->limit, m->limit_fraction, m->skew_s);
    } else {
        for (int i = 0; i < 15; i++)
            csv_text(c, "");
    }
    const struct estimate *t = &m->time_s; /* NaN is not converged */
    bool converged = s->whole && (t->hi - t->lo) / 2 <= r->measure.precision * t->median;
    CSV_TEXTS(c, o.numbers && converged ? "yes" : "no", o.status, o.why, cell->ran);
    if (o.numbers)
        csv_integer(c, (int64_t)s->iterations);
    else
        csv_text(c, "");
    csv_real(c, o.numbers ? gathered_throttled(g) : NAN);
    AUTO_FREE char *note = o.numbers ? remarks_of(r, g, s) : xstrdup("");
    csv_text(c, note);
    csv_end(c);
}

const char metrics_columns[] =
    "run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,metric,unit,"
    "blocks,median,ci_low,ci_high";

struct estimate *summary_metrics(const struct recorded *r, const struct series *s)
{
    size_t n = r->cells[s->cell].n_metrics;
    if (!series_status(r, s).numbers)
        return NULL;
    struct estimate *metrics = xcalloc(n + 1, sizeof *metrics);
    for (size_t i = 0; i < n; i++)
        metrics[i] = estimate_blocks(r, s, s->metrics[i]);
    return metrics;
}

void metrics_rows(struct csv *c, const struct recorded *r, const struct series *s,
                  const struct summary *m)
{
    const struct rec_cell *cell = &r->cells[s->cell];
    for (size_t i = 0; m->metrics && i < cell->n_metrics; i++) {
        struct estimate e = m->metrics[i];
        identity(c, r, cell);
        csv_text(c, cell->metrics[i]);
        csv_text(c, cell->units[i]);
        csv_integer(c, (int64_t)(s->n_blocks - s->n_warm));
        CSV_REALS(c, e.median, e.lo, e.hi);
        csv_end(c);
    }
}

const char launches_columns[] =
    "run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,params,launch,blocks,"
    "median_s,ran,change_block,before_s,after_s";

void launches_rows(struct csv *c, const struct recorded *r, const struct series *s)
{
    if (!series_status(r, s).numbers)
        return;
    AUTO_FREE double *x = xmalloc((s->n_blocks + 1) * sizeof *x);
    for (size_t first = 0, end; first < s->n_blocks; first = end) {
        int launch = s->blocks[first].launch;
        size_t n = 0;
        for (end = first; end < s->n_blocks && s->blocks[end].launch == launch; end++)
            if (!s->blocks[end].warm)
                x[n++] = s->blocks[end].time_s;
        identity(c, r, &r->cells[s->cell]);
        csv_text(c, r->cells[s->cell].params);
        csv_integer(c, launch);
        csv_integer(c, (int64_t)n);
        csv_real(c, stats_quantile_of(x, n, 0.5));
        csv_text(c, r->cells[s->cell].ran);
        struct change change = series_change(s, first, end - first);
        if (change.at)
            csv_integer(c, (int64_t)change.at);
        else
            csv_text(c, "");
        csv_real(c, change.at ? change.before : NAN);
        csv_real(c, change.at ? change.after : NAN);
        csv_end(c);
    }
}

/* ---- remarks ---- */

struct change series_change(const struct series *s, size_t first, size_t n)
{
    AUTO_FREE double *x = xmalloc((n + 1) * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = s->blocks[first + i].time_s;
    return stats_change(x, n);
}

double gathered_throttled(const struct gathered *g)
{
    return g->readings ? (double)g->throttled / (double)g->readings : NAN;
}

#define LEAST_LEVEL 3 /* blocks: the slow first step of a training is no level */

static void add_changes(struct text *t, const struct series *s)
{
    char before[32], after[32];
    for (size_t i = 0, end; i < s->n_blocks; i = end) {
        for (end = i; end < s->n_blocks && s->blocks[end].launch == s->blocks[i].launch; end++)
            ;
        struct change c = series_change(s, i, end - i);
        if (c.at >= LEAST_LEVEL && end - i - c.at >= LEAST_LEVEL)
            text_addf(t, "%slaunch %d changes level after block %zu of %zu: %s before and %s after",
                      t->len ? "; " : "", s->blocks[i].launch, c.at, end - i,
                      units_human_time(before, sizeof before, c.before),
                      units_human_time(after, sizeof after, c.after));
    }
}

char *remarks_throttled(const struct gathered *g)
{
    double share = gathered_throttled(g);
    return share > 0.5 ? xstrfmt("power cap or clock throttle in %.0f%% of readings: compare "
                                 "inside this group only",
                                 100 * share)
                       : xstrdup("");
}

char *remarks_of(const struct recorded *r, const struct gathered *g, const struct series *s)
{
    struct text t = {0};
    AUTO_FREE char *throttled = remarks_throttled(g), *left_out = launches_out_text(g);
    if (s->n_blocks) {
        if (*left_out)
            text_add(&t, left_out);
        add_changes(&t, s);
        char metric[16];
        const char *m = recorded_param(&r->cells[s->cell], "metric", metric, sizeof metric);
        /* The number of operations is not known for all imports. */
        if (!r->imported && m && !strcmp(m, "T_ss") && s->iterations < REMARK_STEADY)
            text_addf(&t, "%sT_ss over %llu operations, fewer than %d", t.len ? "; " : "",
                      (unsigned long long)s->iterations, REMARK_STEADY);
        if (*throttled)
            text_addf(&t, "%s%s", t.len ? "; " : "", throttled);
    }
    return t.s ? t.s : xstrdup("");
}

/* ---- the parts of a step ---- */

enum part { COMPUTE, COMM, SEQUENTIAL, OVERLAPPED, PARTS };
const char *const iteration_modes[PARTS + 1] = {"compute", "comm", "sequential", "overlapped"};

enum value { A, B, C, D, EXPOSED, HIDDEN, OVERLAP, VALUES };

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

static void values_of(const double t[PARTS], double v[VALUES])
{
    double a = t[COMPUTE], b = t[COMM], exposed = t[OVERLAPPED] - a;
    v[A] = a;
    v[B] = b;
    v[C] = t[SEQUENTIAL];
    v[D] = t[OVERLAPPED];
    v[EXPOSED] = exposed;
    v[HIDDEN] = fmin(fmax(b - exposed, 0), b);
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

/* overlapped: the summary of that part. */
static struct decomposition decompose(const struct recorded *r,
                                      const struct series *const part[PARTS],
                                      const struct summary *overlapped)
{
    struct decomposition d = {0};
    struct nested *x[VALUES];
    for (int k = 0; k < VALUES; k++)
        x[k] = xmalloc(part[OVERLAPPED]->n_blocks * sizeof **x);
    d.blocks = paired(part, x);
    for (size_t i = 0; i < d.blocks; i++)
        d.launches += i == 0 || x[A][i].launch != x[A][i - 1].launch;
    for (int k = 0; k < VALUES; k++) {
        bool interval =
            k == D || k == EXPOSED || k == OVERLAP; /* the others have no column for it */
        if (k == D && d.blocks == part[OVERLAPPED]->n_blocks - part[OVERLAPPED]->n_warm)
            d.values[k] = overlapped->time_s; /* of the same blocks */
        else if (interval)
            d.values[k] =
                estimate_median(x[k], d.blocks, r->seed, r->cells[part[OVERLAPPED]->cell].id);
        else
            d.values[k] = (struct estimate){median_of(x[k], d.blocks), NAN, NAN};
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
    bool told = v[B].median >= OVERLAP_LEAST * v[A].median;
    CSV_REALS(c, told ? v[OVERLAP].median : NAN, told ? v[OVERLAP].lo : NAN,
              told ? v[OVERLAP].hi : NAN);
    csv_real(c, gathered_throttled(g));
    AUTO_FREE char *throttled = remarks_throttled(g), *left_out = launches_out_text(g);
    AUTO_FREE char *note =
        xstrfmt("%s%s%s", left_out, *left_out && *throttled ? "; " : "", throttled);
    csv_text(c, note);
    csv_end(c);
}

void iteration_rows(struct csv *c, const struct recorded *r, const struct gathered *g,
                    const struct summary *cells)
{
    for (size_t i = 0; i < g->n; i++) {
        const struct series *s = &g->series[i];
        const struct rec_cell *cell = &r->cells[s->cell];
        if (s->copy || strcmp(cell->mode, iteration_modes[OVERLAPPED]) != 0)
            continue;
        const struct series *part[PARTS];
        bool all = true;
        for (int k = 0; k < PARTS; k++) {
            part[k] = find(r, g, cell->config, (enum part)k);
            all = all && part[k] && series_status(r, part[k]).numbers;
        }
        struct decomposition d = {0};
        if (all)
            d = decompose(r, part, &cells[s->cell]);
        if (d.blocks)
            row(c, r, g, cell, &d);
    }
}

/* ---- evidence ---- */

const char *const level_names[LEVELS] = {
    [LEVEL_ALONE] = "alone", [LEVEL_SYNTHETIC] = "synthetic", [LEVEL_STEP] = "step",
    [LEVEL_TRIAL] = "trial", [LEVEL_TRAINING] = "training",   [LEVEL_PRICE] = "price",
};

enum level level_of(const char *workload, const char *mode, const char *params)
{
    if (!strcmp(workload, "train"))
        return LEVEL_TRAINING;
    if (!strcmp(workload, "trial"))
        return LEVEL_TRIAL;
    bool step = !strcmp(mode, "sequential") || !strcmp(mode, "overlapped");
    if (strcmp(workload, "iter_proxy") != 0 || !step)
        return LEVEL_ALONE;
    for (const char *p = params; (p = strstr(p, "step=")); p++) /* a word with a value */
        if ((p == params || p[-1] == ' ') && p[5] && !isspace((unsigned char)p[5]))
            return LEVEL_STEP;
    return LEVEL_SYNTHETIC;
}

bool level_is_price(const char *workload, const char *label, const char *config)
{
    static const char *const arms[] = {"none", "half", "one", "control"};
    bool priced = !strcmp(workload, "trial") || !strcmp(label, "price");
    for (size_t i = 0; i < COUNT(arms); i++)
        if (priced && !strcmp(config, arms[i]))
            return true;
    return false;
}
