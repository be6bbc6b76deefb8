/* SPDX-License-Identifier: Apache-2.0
 *
 * wan_sync: synchronising a gradient between sites, alone or between the steps of a training.
 * `strategy`, `wire` and what tunes them are compared in the same blocks; strategy=mpi is
 * MPI_Allreduce, the baseline.
 *
 *   cell        the parameters of a cell, and their checks
 *   sync        sites and their GPUs, one synchronisation, and the training steps around it
 *   strategy    all-reduce algorithms as schedules, and the engine that runs a schedule over a link
 *   wire        number formats of a block: fp32, bf16, int8, int4
 *   transport/  links between ranks: TCP streams with pacing; and the pool of links
 *   cuda/       sums inside a site on its GPUs; a shared object of its own (cuda.so)
 *
 * The schedule of a cell is made before its first sample (sync_open). A sample goes from sample() below
 * through sync_train() to post_fragment(), which queues a fragment. sync_poll() and end_step() call advance_sync(),
 * which takes it from phase to phase. strategy_start() and strategy_poll() give the blocks of its schedule to the
 * send() of a link (transport/link.h), in tcp_link.c. It queues a block and writes at once what the kernel takes
 * (tcp_pump()); while the link rests it only queues, and the first next() chooses the streams before it writes. next()
 * reads, and writes what is left. Back: next() names a block that has arrived, the engine in strategy.c adds it,
 * end_step() goes on when the schedule is done, and fill_metrics() reads the totals. strategy=mpi leaves all of this
 * out after sync.c.
 *
 * Without compute, one iteration is one synchronisation of the whole buffer. With compute, it is H
 * steps and their synchronisations (sync.h). These follow from a recording and the cell's
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
 * buffer, and for each strategy the blocks that have come before their turn (cell_ahead_B()).
 */
#include "common/clock.h"
#include "common/mpi_calls.h"
#include "common/wan_model.h"
#include "wan_sync/sync.h"
#include "wan_sync/transport/pool.h"
#include "wan_sync/transport/tcp.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHIFT 389 /* elements between the gradients of two samples; prime to PAYLOAD_PERIOD */

#define ALIGN 4096
#define NOTE_MAX 512
#define SHARES_GAIN 0.85

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
    M_ERROR_BOUND
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
    {0}};

struct self {
    const struct wl_host *host;
    MPI_Comm comm;
    struct pool pool;
    struct payload_floats patterns[FLOATS_KINDS];
    struct sync_gpu gpu;
    float *buffer; /* the gradient */
    size_t bytes;
};

struct prepared {
    struct self *self;
    struct cell cell;
    struct sync_sites sites;
    struct pool_link *between; /* the members; NULL: strategy=mpi */
    struct sync_gpu *gpu;      /* NULL: ranks do not sum on their GPUs */
    struct sync_parts parts;   /* owns rank_of and share */
    struct sync *sync;         /* of these parts; NULL: not opened yet */
    struct payload_floats *pattern;
    size_t samples;
    enum wl_status verdict; /* on the last sample */
    uint64_t bits;          /* hash of its sum */
    char why[256];
};

/* Reports why a call fails. */
static enum wl_status failed(const struct self *s, const char *why)
{
    s->host->fail(s->host->ctx, "%s", why);
    return sync_gpu_lost(&s->gpu) ? WL_LOST : WL_FAIL;
}

static void note_numbers(const struct self *s, const char *key, const double *x, size_t n)
{
    char text[NOTE_MAX] = "";
    size_t at = 0;
    for (size_t i = 0; i < n && at < NOTE_MAX - 32; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%.4g", i ? " " : "", x[i]);
    s->host->note(s->host->ctx, key, text);
}

static float *data_of(const struct prepared *p)
{
    return p->gpu ? p->gpu->data : p->self->buffer;
}

static int members_of(const struct prepared *p)
{
    bool leaders = p->cell.strategy == CELL_FIRST + WAN_HIERARCHICAL;
    return leaders ? p->sites.n : p->sites.ranks;
}

/* ==== the shares of a direct exchange ==== */

/* Probes the rates of a link that was opened: to the next member of a ring, or to all. */
static bool probe_rates(struct prepared *p)
{
    bool to_all = wan_strategy_to_all[cell_model(&p->cell)];
    return pool_probe(&p->self->pool, p->between, p->parts.rank_of, p->parts.members, to_all);
}

/* What each member can send and receive at, as probed. False: see pool.why. */
static bool probed_rates(struct prepared *p, double *rate)
{
    struct self *s = p->self;
    int n = s->host->ranks;
    double *all = calloc((size_t)n * (size_t)n, sizeof *all);
    bool good = all && pool_rates(&s->pool, p->between, all);
    for (int m = 0; good && m < p->parts.members; m++) {
        int r = p->parts.rank_of[m];
        double up = 0, down = 0;
        for (int k = 0; k < n; k++) {
            up = fmax(up, all[r * n + k]);
            down = fmax(down, all[k * n + r]);
        }
        rate[m] = fmin(up, down);
    }
    free(all);
    if (good)
        note_numbers(s, "rates_Bps", rate, (size_t)p->parts.members);
    return good;
}

/* By the linear program of the model: the least time of a direct exchange. Measured rates of equal
 * sites differ, so shares by them stay equal where the program gains less than SHARES_GAIN. */
static bool share_out(struct prepared *p)
{
    size_t n = (size_t)p->parts.members;
    double rate[FLOATS_RANKS_MOST], given[FLOATS_RANKS_MOST], least = INFINITY;
    double bytes = (double)p->cell.size, *share = p->parts.share;
    bool is_given = cell_rates(&p->cell, given, FLOATS_RANKS_MOST) > 0;
    if (!probed_rates(p, rate))
        return false;
    if (!share)
        return true;
    for (size_t m = 0; m < n; m++) {
        rate[m] = is_given ? given[p->parts.rank_of[m]] : rate[m];
        least = fmin(least, rate[m]);
        share[m] = 1 / (double)n;
    }
    double equal_s = 2 * (double)(n - 1) / (double)n * bytes / least;
    if (least > 0 && (is_given || wan_shares(rate, n, bytes, NULL) <= SHARES_GAIN * equal_s))
        wan_shares(rate, n, bytes, share);
    note_numbers(p->self, "shares", share, n);
    return true;
}

/* ==== a cell ==== */

static bool reserve_buffer(struct self *s, const struct cell *c)
{
    size_t bytes = ((size_t)c->size + ALIGN - 1) / ALIGN * ALIGN;
    if (c->inside == INSIDE_BY_NCCL || s->bytes >= bytes)
        return true;
    free(s->buffer);
    s->buffer = aligned_alloc(ALIGN, bytes);
    s->bytes = s->buffer ? bytes : 0;
    if (s->buffer)
        memset(s->buffer, 0, bytes);
    return s->buffer;
}

static void release(void *prepared)
{
    struct prepared *p = prepared;
    if (p->sync)
        sync_close(p->sync);
    sync_sites_close(&p->sites);
    free(p->parts.rank_of);
    free(p->parts.share);
    free(p);
}

static bool name_members(struct prepared *p)
{
    struct sync_parts *q = &p->parts;
    size_t n = (size_t)members_of(p);
    bool leaders = p->cell.strategy == CELL_FIRST + WAN_HIERARCHICAL;
    q->members = (int)n;
    q->rank_of = calloc(n, sizeof *q->rank_of);
    if (q->rank_of)
        memcpy(q->rank_of, leaders ? p->sites.leader : p->sites.in_order, n * sizeof *q->rank_of);
    bool has_shares = p->cell.strategy == CELL_FIRST + WAN_DIRECT && p->cell.shares == SHARES_LP;
    if (has_shares)
        q->share = calloc(n, sizeof *q->share);
    return q->rank_of && (q->share || !has_shares);
}

/* Anew when a link was mended, or another cell needed a larger buffer. */
static bool make_sync(struct prepared *p)
{
    struct sync_parts now = p->parts;
    now.link = p->between ? p->between->link : NULL;
    now.engine = p->between ? p->between->engine : NULL;
    now.data = data_of(p);
    if (p->sync && now.link == p->parts.link && now.engine == p->parts.engine &&
        now.data == p->parts.data)
        return true;
    if (p->sync)
        sync_close(p->sync);
    p->parts = now;
    p->sync = sync_open(&p->parts);
    return p->sync;
}

static bool all_have(const struct self *s, bool good)
{
    return host_agree(s->host, good ? WL_OK : WL_FAIL, "no memory") == WL_OK;
}

static enum wl_status use_gpus(struct prepared *p)
{
    struct self *s = p->self;
    enum wl_status status = sync_gpu_open(&s->gpu, s->host, p->sites.inside);
    TRY(status, s->gpu.ops->reserve(s->gpu.state, cell_count(&p->cell), &s->gpu.data));
    status = host_agree(s->host, status, s->gpu.why);
    p->gpu = &s->gpu;
    return status != WL_OK && sync_gpu_lost(&s->gpu) ? WL_LOST : status;
}

static enum wl_status prepare_cell(struct prepared *p)
{
    struct self *s = p->self;
    if (!sync_sites_open(&p->sites, s->host, s->comm, (int)p->cell.site_ranks))
        return failed(s, "no memory, or MPI failed, for the sites");
    if (p->cell.strategy != CELL_MPI && !(p->between = pool_take(&s->pool, &p->cell)))
        return failed(s, s->pool.why);
    if (p->cell.inside == INSIDE_BY_NCCL)
        CHECK(use_gpus(p));
    p->parts.inside = p->cell.strategy == CELL_FIRST + WAN_HIERARCHICAL && p->sites.largest > 1;
    p->parts.gpu = p->gpu;
    p->pattern = &s->patterns[p->cell.pattern];
    if (!p->pattern->ready)
        payload_floats_init(p->pattern, (enum payload_floats_kind)p->cell.pattern, s->host->rank,
                            s->host->ranks);
    if (!all_have(s, reserve_buffer(s, &p->cell) && name_members(p)))
        return WL_FAIL;
    if (p->between && (!probe_rates(p) || !share_out(p)))
        return failed(s, s->pool.why);
    return all_have(s, make_sync(p)) ? WL_OK : WL_FAIL;
}

static enum wl_status prepare(void *self, const void *cell, void **prepared)
{
    struct self *s = self;
    struct prepared *p = calloc(1, sizeof *p);
    if (!p)
        return failed(s, "out of memory");
    p->self = s;
    p->cell = *(const struct cell *)cell;
    p->parts = (struct sync_parts){
        .cell = &p->cell, .comm = s->comm, .sites = &p->sites, .rank = s->host->rank};
    p->sites.inside = MPI_COMM_NULL;
    enum wl_status status = prepare_cell(p);
    if (status != WL_OK) {
        release(p);
        return status;
    }
    *prepared = p;
    return WL_OK;
}

/* ==== once a process ==== */

static enum wl_status open_plugin(void **self, const struct wl_host *host)
{
    struct self *s = calloc(1, sizeof *s);
    if (!s || mpi_dup(MPI_COMM_WORLD, &s->comm) != MPI_SUCCESS) {
        host->fail(host->ctx, "no memory, or MPI_Comm_dup failed");
        free(s);
        return WL_FAIL;
    }
    s->host = host;
    pool_open(&s->pool, host, s->comm);
    *self = s;
    return WL_OK;
}

static void close_plugin(void *self)
{
    struct self *s = self;
    sync_gpu_close(&s->gpu);
    pool_close(&s->pool);
    free(s->buffer);
    MPI_Comm_free(&s->comm);
    free(s);
}

/* ==== a sample ==== */

static double error_bound(const struct prepared *p, const struct payload_floats_error *e)
{
    const struct cell *c = &p->cell;
    bool lossy = c->wire != WIRE_FP32 && c->strategy != CELL_MPI;
    double inputs = c->strategy == CELL_FIRST + WAN_HIERARCHICAL ? p->sites.largest : 1;
    double n = p->sites.ranks, members = members_of(p);
    double one = wire_of[c->wire].error, bound = 0;
    const struct strategy *s = lossy ? &strategy_of[cell_model(c)] : NULL;
    if (lossy)
        bound = one * (s->linear + s->square * members) * members * inputs * (1 + 1e-6);
    if (c->pattern != FLOATS_INTEGERS) /* n additions to a sum of at most n inputs */
        bound += 0x1p-24 * n * n;
    return e->scale > 0 ? bound * p->pattern->largest / e->scale : 0;
}

/* Each sample has a fresh gradient, the same cut of the pattern on every rank. */
static size_t shift_of(const struct prepared *p)
{
    return p->samples * SHIFT % PAYLOAD_PERIOD;
}

static void fill_metrics(struct prepared *p, const struct sync_times *t, struct wl_sample *out)
{
    size_t shift = shift_of(p);
    struct payload_floats_error e =
        payload_floats_check(p->pattern, data_of(p), shift, cell_count(&p->cell));
    struct sync_totals n = sync_totals(p->sync);
    const struct cell *c = &p->cell;
    double steps = (double)c->every, runs = (double)n.runs / (double)c->fragments;
    double *v = out->values, bound = error_bound(p, &e);
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
    out->start_ns = t->start_ns;
    out->end_ns = t->end_ns;
    p->bits = e.bits;
    p->verdict = e.largest <= bound * e.scale ? WL_OK : WL_FAIL;
    if (p->verdict != WL_OK)
        snprintf(p->why, sizeof p->why,
                 "element %zu of %zu is %.9g, not %.9g within %.3g, on rank %d", e.at,
                 cell_count(&p->cell), (double)e.got, (double)e.expected, bound * e.scale,
                 p->self->host->rank);
}

/* Waits for all ranks without using a processor. MPI waits by spinning: on sites that share this machine,
 * a rank that is done would take the processor from those that are not. */
static void meet_asleep(MPI_Comm comm)
{
    MPI_Request all;
    int done = 0, rc = MPI_Ibarrier(comm, &all);
    while (rc == MPI_SUCCESS && !done) {
        rc = MPI_Test(&all, &done, MPI_STATUS_IGNORE);
        if (!done)
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
}

static enum wl_status sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    struct prepared *p = prepared;
    struct self *s = p->self;
    struct sync_times times;
    enum wl_status status = WL_OK;
    (void)iters; /* one: describe() says so */
    if (p->between && (!pool_mend(&s->pool, p->between) || !probe_rates(p)))
        return failed(s, s->pool.why);
    if (!make_sync(p))
        return failed(s, "out of memory");
    sync_totals(p->sync);
    size_t count = cell_count(&p->cell);
    p->samples++;
    payload_floats_fill(p->pattern, data_of(p), shift_of(p), count);
    bool filled = !p->gpu || p->gpu->ops->fill(p->gpu->state, count) == WL_OK;
    s->host->start(s->host->ctx);
    if (!filled || !sync_train(p->sync, p->pattern, shift_of(p), &times)) {
        if (p->between)
            p->between->broken = true;
        status = failed(s, filled ? sync_why(p->sync) : p->gpu->why);
        status = sync_is_lost(p->sync) ? WL_LOST : status;
    }
    meet_asleep(s->comm);
    if (status != WL_OK)
        return status;
    if (p->gpu && p->gpu->ops->fetch(p->gpu->state, count) != WL_OK)
        return failed(s, p->gpu->why);
    fill_metrics(p, &times, out);
    return WL_OK;
}

/* Collective: the ranks must have the same bits as well. */
static enum wl_status verify(void *prepared)
{
    struct prepared *p = prepared;
    uint64_t mine[] = {p->bits, ~p->bits}, least[2] = {0};
    MPI_Allreduce(mine, least, 2, MPI_UINT64_T, MPI_MIN, p->self->comm);
    if (p->verdict != WL_OK)
        return failed(p->self, p->why);
    if (least[0] != ~least[1])
        return failed(p->self, "the ranks ended with different bits");
    return WL_OK;
}

static void abort_plugin(void *self)
{
    struct self *s = self;
    pool_abort(&s->pool);
    sync_gpu_abort(&s->gpu);
}

static const char *const added[] = {"pattern", NULL};

const struct wl_plugin wl_plugin_v1 = {
    .size = sizeof(struct wl_plugin),
    .name = "wan_sync",
    .version = "1.6.0",
    .summary = "gradient synchronisation between sites, compared with MPI_Allreduce",
    .params = cell_params,
    .cell_size = sizeof(struct cell),
    .metrics = metrics,
    .describe = cell_describe,
    .open = open_plugin,
    .close = close_plugin,
    .prepare = prepare,
    .release = release,
    .sample = sample,
    .verify = verify,
    .abort = abort_plugin,
    .added = added,
};
