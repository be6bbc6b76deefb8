/* SPDX-License-Identifier: Apache-2.0
 *
 * wan_sync: synchronising a gradient between sites, alone or between the steps of a training.
 * `strategy`, `transport`, `wire` and what tunes them are compared in the same blocks;
 * strategy=mpi is MPI_Allreduce, the baseline.
 *
 *   cell.h       the parameters of a cell, and their checks
 *   prepare.c    makes everything that one cell needs
 *   wire/        number formats of a block: fp32, bf16, int8, int4
 *   strategy/    all-reduce algorithms as schedules, and the engine that runs a schedule over a link
 *   transport/   links between ranks: TCP streams with pacing, or MPI; and the probe of a link
 *   sync/        one synchronisation, the sites, the training steps around it, and their compute
 *   cuda/        sums inside a site on its GPUs; a shared object of its own (cuda.so)
 *
 * Of an X.h without X.c, X_*.c are the sources, and X_parts.h or X_state.h is private.
 *
 * Without compute, one iteration is one synchronisation of the whole buffer. With compute, it is H
 * steps and their synchronisations (train.h). These follow from a recording and the cell's
 * parameters:
 *   efficiency            compute / time, both per step
 *   tokens/s              tokens / time
 *   time to N tokens      target_tokens / tokens * time
 *   bytes on the wire     wire (payload and scales of one synchronisation, busiest rank)
 *   effective bandwidth   size 2(n-1)/n / sync_time; the uplink carried wire / sync_time
 *
 * All cells share one buffer. It is filled before each sample and checked after it; neither is
 * timed. verify() reports the result of the check. fp32 must give the exact sum. A lossy wire must
 * stay within the bound of its rounding errors. All ranks must end with the same bits. Memory: the
 * buffer, and for each strategy the buffers of its connections and
 * block slots (CELL_SLOTS_B).
 */
#include "wan_sync/wan_sync.h"
#include "common/clock.h"
#include "wan_sync/strategy/strategies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHIFT 389 /* elements between the gradients of two samples; prime to PATTERN_PERIOD */

enum metric {
    M_TIME,
    M_SYNC_TIME,
    M_EXPOSED,
    M_COMPUTE,
    M_EFFICIENCY,
    M_WIRE,
    M_UPLINK,
    M_RMS_ERROR,
    M_MAX_ERROR,
    M_ERROR_BOUND,
    M_SUMMED_ERROR,
    M_PEAK,
    M_REOPENED,
    M_STRANGERS
};
static const struct wl_metric metrics[] = {
    [M_TIME] = {"time", "s", "one step; without compute, one synchronisation", WL_MAX},
    [M_SYNC_TIME] = {"sync_time", "s", "one synchronisation of the whole buffer", WL_MAX},
    [M_EXPOSED] = {"exposed", "s", "time per step in which nothing is computed", WL_MAX},
    [M_COMPUTE] = {"compute", "s", "compute time per step", WL_MEAN},
    [M_EFFICIENCY] = {"efficiency", "1", "compute divided by time", WL_MEAN},
    [M_WIRE] = {"wire", "B",
                "payload sent by the busiest rank in one synchronisation; 0: unknown, MPI does not "
                "report it",
                WL_MAX},
    [M_UPLINK] = {"uplink", "B/s", "wire divided by sync_time, busiest rank", WL_MAX},
    [M_RMS_ERROR] = {"rms_error", "1", "rms error of the sum, relative to its rms", WL_MAX},
    [M_MAX_ERROR] = {"max_error", "1", "largest error of the sum, relative to its rms", WL_MAX},
    [M_ERROR_BOUND] = {"error_bound", "1", "upper bound of max_error", WL_MAX},
    [M_SUMMED_ERROR] =
        {"summed_error", "1",
         "rms of the summed errors of all n samples so far, relative to sqrt(n) times "
         "the rms of a sum; feedback lowers it",
         WL_MAX},
    [M_PEAK] = {"peak", "1",
                "largest of 128 numbers of the gradient over their rms, before rounding", WL_MAX},
    [M_REOPENED] = {"reopened", "1",
                    "streams reopened after a failure since the last sample, counted at both ends",
                    WL_SUM},
    [M_STRANGERS] =
        {"strangers", "1",
         "connections refused since the last sample: they did not show the cookie of the job",
         WL_SUM},
    {0}};

enum wl_status wan_failed(const struct self *s, const char *why)
{
    s->host->fail(s->host->ctx, "%s", why);
    return inside_gpu_lost(&s->gpu) ? WL_LOST : WL_FAIL;
}

/* ---- once a process ---- */

static enum wl_status open_plugin(void **self, const struct wl_host *host)
{
    struct self *s = calloc(1, sizeof *s);
    if (!s || MPI_Comm_dup(MPI_COMM_WORLD, &s->comm) != MPI_SUCCESS) {
        host->fail(host->ctx, "no memory, or MPI_Comm_dup failed");
        free(s);
        return WL_FAIL;
    }
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    s->host = host;
    lines_open(&s->lines, host, s->comm);
    s->silence = silence_open(host, s->comm);
    *self = s;
    return WL_OK;
}

static void close_plugin(void *self)
{
    struct self *s = self;
    silence_close(s->silence);
    inside_gpu_close(&s->gpu);
    lines_close(&s->lines);
    free(s->buffer);
    MPI_Comm_free(&s->comm);
    free(s);
}

/* ---- a sample ---- */

static double error_bound(const struct prepared *p, const struct pattern_error *e)
{
    const struct cell *c = &p->cell;
    bool lossy = c->wire != WIRE_FP32 && c->strategy != CELL_MPI;
    double inputs = c->strategy == CELL_FIRST + WAN_HIERARCHICAL ? p->sites.largest : 1,
           n = p->sites.ranks;
    double one = wire_error((enum wire)c->wire), bound = 0;
    if (lossy)
        bound = one * strategies[cell_model(c)].rounded(wan_members(p)) * inputs * (1 + 1e-6);
    if (lossy && c->feedback) /* this one's and the last one's, of numbers that these made larger */
        bound *= 2 / (1 - one) / (1 - one);
    if (c->pattern != PATTERN_INTEGERS) /* n additions to a sum of at most n inputs */
        bound += 0x1p-24 * n * n;
    return e->scale > 0 ? bound * p->pattern->largest / e->scale : 0;
}

static void judge(struct prepared *p, const struct pattern_error *e, double bound)
{
    double allowed = bound * e->scale;
    p->verdict = e->largest <= allowed ? WL_OK : WL_FAIL;
    if (p->verdict != WL_OK)
        snprintf(p->why, sizeof p->why,
                 "element %zu of %zu is %.9g, not %.9g within %.3g, on rank %d", e->at,
                 cell_count(&p->cell), (double)e->got, (double)e->expected, allowed,
                 p->self->host->rank);
}

/* What befell the link since it was last told. */
static void note_link(struct line *line, double *reopened, double *strangers)
{
    if (!line || !line->link)
        return;
    struct wan_link_stats now;
    line->link->ops->stats(line->link, &now);
    *reopened = now.reopened - line->told.reopened;
    *strangers = now.strangers - line->told.strangers;
    line->told = now;
}

/* Each sample has a fresh gradient, the same cut of the pattern on every rank. */
static size_t shift_of(const struct prepared *p)
{
    return p->samples * SHIFT % PATTERN_PERIOD;
}

static void report(struct prepared *p, const struct train_times *t, struct wl_sample *out)
{
    size_t shift = shift_of(p);
    struct pattern_error e = pattern_check(p->pattern, wan_data(p), shift, cell_count(&p->cell));
    double summed =
        pattern_add_errors(p->pattern, wan_data(p), shift, wan_errors(&p->cell), p->errors);
    struct sync_totals n = sync_totals(p->sync);
    const struct cell *c = &p->cell;
    double steps = (double)c->every, runs = (double)n.runs / (double)c->fragments;
    double *v = out->values, bound = error_bound(p, &e);
    v[M_REOPENED] = v[M_STRANGERS] = 0;
    v[M_TIME] = t->all_s / steps;
    v[M_SYNC_TIME] = (double)n.busy_ns * 1e-9 / runs;
    v[M_EXPOSED] = fmax(0, t->all_s - t->compute_s) / steps;
    v[M_COMPUTE] = t->compute_s / steps;
    v[M_EFFICIENCY] = t->compute_s / t->all_s;
    v[M_WIRE] = (double)n.sent_B / runs;
    v[M_UPLINK] = v[M_WIRE] / v[M_SYNC_TIME];
    v[M_RMS_ERROR] = e.scale > 0 ? e.rms / e.scale : 0;
    v[M_MAX_ERROR] = e.scale > 0 ? fmin(e.largest / e.scale, 1e9) : 0;
    v[M_ERROR_BOUND] = bound;
    v[M_SUMMED_ERROR] = e.scale > 0 ? fmin(summed / sqrt((double)p->samples) / e.scale, 1e9) : 0;
    v[M_PEAK] = pattern_peak(p->pattern);
    note_link(p->line, &v[M_REOPENED], &v[M_STRANGERS]);
    out->start_ns = t->start_ns;
    out->end_ns = t->end_ns;
    p->bits = e.bits;
    judge(p, &e, bound);
}

static struct train train_of(const struct prepared *p)
{
    const struct self *s = p->self;
    return (struct train){.cell = &p->cell,
                          .sync = p->sync,
                          .pattern = p->pattern,
                          .shift = shift_of(p),
                          .data = wan_data(p),
                          .ranks = s->host->ranks};
}

static enum wl_status sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    struct prepared *p = prepared;
    struct self *s = p->self;
    struct train_times times;
    (void)iters; /* one: describe() says so */
    wan_watch(p);
    if ((p->line && !lines_mend(&s->lines, p->line)) ||
        (p->inside && !lines_mend(&s->lines, p->inside)))
        return wan_failed(s, s->lines.why);
    if (!wan_make_sync(p))
        return wan_failed(s, "out of memory");
    sync_totals(p->sync);
    size_t count = cell_count(&p->cell);
    p->samples++;
    pattern_fill(p->pattern, wan_data(p), shift_of(p), count);
    bool filled = !p->gpu || inside_gpu_fill(p->gpu, count);
    struct train train = train_of(p);
    s->host->start(s->host->ctx);
    if (!filled || !train_run(&train, &times)) {
        if (p->line)
            p->line->broken = true;
        if (p->inside)
            p->inside->broken = true;
        return wan_failed(s, filled ? sync_why(p->sync) : p->gpu->why);
    }
    if (p->gpu && !inside_gpu_fetch(p->gpu, count))
        return wan_failed(s, p->gpu->why);
    report(p, &times, out);
    return WL_OK;
}

/* Collective: the ranks must have the same bits as well. */
static enum wl_status verify(void *prepared)
{
    struct prepared *p = prepared;
    uint64_t mine[] = {p->bits, ~p->bits}, least[2] = {0};
    MPI_Allreduce(mine, least, 2, MPI_UINT64_T, MPI_MIN, p->self->comm);
    if (p->verdict != WL_OK)
        return wan_failed(p->self, p->why);
    if (least[0] != ~least[1])
        return wan_failed(p->self, "the ranks ended with different bits");
    return WL_OK;
}

static void abort_plugin(void *self)
{
    struct self *s = self;
    lines_abort(&s->lines);
    inside_gpu_abort(&s->gpu);
}

static const char *const added[] = {"feedback", "pattern", "addresses", NULL};

const struct wl_plugin wl_plugin_v1 = {
    .size = sizeof(struct wl_plugin),
    .name = "wan_sync",
    .version = "1.3.0",
    .summary = "gradient synchronisation between sites, compared with MPI_Allreduce",
    .params = cell_params,
    .cell_size = sizeof(struct cell),
    .metrics = metrics,
    .describe = cell_describe,
    .open = open_plugin,
    .close = close_plugin,
    .prepare = wan_prepare,
    .release = wan_release,
    .sample = sample,
    .verify = verify,
    .abort = abort_plugin,
    .added = added,
};
