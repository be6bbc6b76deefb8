/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/summary.h"

#include "base/text.h"
#include "reduce/remarks.h"

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

struct estimate estimate_median(struct nested *x, size_t n, uint64_t seed, const char *cell)
{
    if (n == 0)
        return (struct estimate){NAN, NAN, NAN};
    AUTO_FREE double *values = xmalloc(n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = x[i].value;
    struct estimate e = {stats_median(values, n), NAN, NAN};
    if (x[0].launch != x[n - 1].launch) {
        struct rng rng;
        char stream[9];
        memcpy(stream, cell, 8);
        stream[8] = '\0';
        rng_stream(&rng, seed, strtoull(stream, NULL, 16));
        struct interval ci = stats_bootstrap_median(x, batch(x, n), SUMMARY_DRAWS, 0.95, &rng);
        e.lo = ci.lo;
        e.hi = ci.hi;
    }
    return e;
}

/* ---- a cell ---- */

struct estimate estimate_blocks(const struct recorded *r, const struct series *s,
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

bool summary_converged(const struct recorded *r, const struct series *s, const struct summary *m)
{
    const struct estimate *t = &m->time_s;
    return s->whole && (t->hi - t->lo) / 2 <= r->precision * t->median; /* false for NaN */
}

static void notes(struct csv *c, const struct recorded *r, const struct gathered *g,
                  const struct series *s, bool numbers)
{
    AUTO_FREE char *note = numbers ? remarks_of(r, g, s) : xstrdup("");
    if (numbers)
        csv_integer(c, (int64_t)s->iterations);
    else
        csv_text(c, "");
    csv_real(c, numbers ? gathered_throttled(g) : NAN);
    csv_text(c, note);
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
    CSV_TEXTS(c, o.numbers && summary_converged(r, s, m) ? "yes" : "no", o.status, o.why,
              cell->ran);
    notes(c, r, g, s, o.numbers);
    csv_end(c);
}

const char metrics_columns[] =
    "run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,metric,unit,"
    "blocks,median,ci_low,ci_high";

void metrics_rows(struct csv *c, const struct recorded *r, const struct series *s)
{
    const struct rec_cell *cell = &r->cells[s->cell];
    if (!series_status(r, s).numbers)
        return;
    for (size_t i = 0; i < cell->n_metrics; i++) {
        struct estimate e = estimate_blocks(r, s, s->metrics[i]);
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

static void change_fields(struct csv *c, struct change change)
{
    if (change.at)
        csv_integer(c, (int64_t)change.at);
    else
        csv_text(c, "");
    csv_real(c, change.at ? change.before : NAN);
    csv_real(c, change.at ? change.after : NAN);
}

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
        change_fields(c, series_change(s, first, end - first));
        csv_end(c);
    }
}
