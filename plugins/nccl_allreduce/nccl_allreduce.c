/* SPDX-License-Identifier: Apache-2.0
 *
 * nccl_allreduce: ncclAllReduce, one process a GPU, as NCCL tunes it and as it is told to.
 * `collective` measures NCCL's other collectives instead.
 *
 * T_ss is the device's time for operations back to back (a CUDA graph, or a stream), by events
 * around them, after some that are not timed. L_iso is the host's time
 * (CLOCK_MONOTONIC) for one operation from idle, ranks released together, launch included.
 */
#include "nccl_allreduce/nccl_allreduce.h"

#include "common/collective.h"
#include "common/host.h"
#include "common/payload.h"

#define P(member, type, role, ctype) #member, type, role, WL_FIELD(struct nccl_cell, member, ctype)

static const char *const dtypes[] = {"fp32", "fp16", "bf16", NULL}; /* as enum payload_type */
static const char *const ops[] = {"sum", NULL};
static const char *const metric_names[] = {"T_ss", "L_iso", NULL};
static const char *const launches[] = {"graph", "stream", NULL};
static const char *const buffers[] = {"hot", "cold", NULL};
static const char *const contentions[] = {"none", NULL};
static const char *const algorithms[] = {
    "auto", "ring", "tree", "collnet-direct", "collnet-chain", "nvls", "nvls-tree", "pat", NULL};
static const char *const protocols[] = {"auto", "LL", "LL128", "Simple", NULL};
static const char *const memories[] = {"plain", "ncclMemAlloc", NULL};

/* clang-format off */
static const struct wl_param params[] = {
    {P(size, WL_SIZE, WL_AXIS, uint64_t), "B", "16MiB", 1, 1ull << 46, NULL,
     "bytes of the buffer on one rank; a multiple of the element size"},
    {P(dtype, WL_CHOICE, WL_AXIS, int), NULL, "fp32", 0, 0, dtypes,
     "type of an element"},
    {P(op, WL_CHOICE, WL_AXIS, int), NULL, "sum", 0, 0, ops,
     "reduction operation; it is part of the ids of cells"},
    {P(in_place, WL_BOOL, WL_AXIS, bool), NULL, "no", 0, 0, NULL,
     "the result replaces the input"},
    {P(metric, WL_CHOICE, WL_AXIS, int), NULL, "T_ss", 0, 0, metric_names,
     "T_ss: operations back to back, device clock; L_iso: one operation from idle, host clock"},
    {P(launch, WL_CHOICE, WL_AXIS, int), NULL, "graph", 0, 0, launches,
     "graph: replay a CUDA graph; stream: call NCCL for each operation"},
    {P(buffers, WL_CHOICE, WL_AXIS, int), NULL, "hot", 0, 0, buffers,
     "hot: reuse one buffer; cold: first move 4 x the L2 size of other data"},
    {P(contention, WL_CHOICE, WL_AXIS, int), NULL, "none", 0, 0, contentions,
     "work beside the operation; it is part of the ids of cells"},
    {P(hosts, WL_INT, WL_AXIS, int64_t), NULL, "1", 1, 64, NULL,
     "pretend the ranks span this many hosts: NCCL uses its network between them"},
    {P(algorithm, WL_CHOICE, WL_CONFIG, int), NULL, "auto", 0, 0, algorithms,
     "auto: NCCL chooses"},
    {P(protocol, WL_CHOICE, WL_CONFIG, int), NULL, "auto", 0, 0, protocols,
     "auto: NCCL chooses"},
    {P(ctas, WL_INT, WL_CONFIG, int64_t), NULL, "0", 0, 64, NULL,
     "exact number of CTAs (thread blocks); 0: NCCL chooses"},
    {P(memory, WL_CHOICE, WL_CONFIG, int), NULL, "plain", 0, 0, memories,
     "plain: cudaMalloc, as in frameworks; ncclMemAlloc: NCCL registers it in graphs, as in nccl-tests"},
    {P(collective, WL_CHOICE, WL_AXIS, int), NULL, "allreduce", 0, 0, collective_names,
     "the collective; size as in nccl-tests"},
    {0}};

static const char *const added[] = {"collective", NULL};

static const struct wl_metric metrics[] = {{"time", "s", "one operation", WL_MAX}, {0}};
/* clang-format on */

/* Rough rates, for a plan's cost alone: bytes a second through one GPU, by what limits them. */
#define RATE_LINK 300e9
#define RATE_SOCKET 3e9
#define RATE_CTA 20e9
#define LATENCY_S 15e-6
static const double protocol_rate[] = {1, 0.35, 0.9, 1}; /* auto, LL, LL128, Simple */

static double estimate(const struct nccl_cell *c, const struct wl_job *job)
{
    double rate = (c->hosts > 1 ? RATE_SOCKET : RATE_LINK) * protocol_rate[c->protocol];
    if (c->ctas && (double)c->ctas * RATE_CTA < rate)
        rate = (double)c->ctas * RATE_CTA;
    double factor = collective_busbw_factor((enum collective)c->collective, job->ranks);
    return LATENCY_S * (c->metric == METRIC_L_ISO ? 4 : 1) + (double)c->size * factor / rate;
}

static unsigned clamp(double n, unsigned least, unsigned most)
{
    return n <= least ? least : n >= most ? most : (unsigned)n;
}

/* Operations of a steady-state sample at least. */
static unsigned back_to_back(double operation_s, int launch)
{
    unsigned most = launch == LAUNCH_STREAM ? BACK_TO_BACK_STREAM : BACK_TO_BACK_MOST;
    unsigned few = clamp(LONG_SAMPLE_S / operation_s, BACK_TO_BACK_LONG, BACK_TO_BACK);
    return clamp(SAMPLE_S / operation_s, few, most);
}

/* WL_FAIL: no cell. WL_SKIP: what no machine can do, as far as is known without one. */
static enum wl_status judge(const struct nccl_cell *c, const struct wl_job *job, char *why,
                            size_t n)
{
    const enum collective collective = (enum collective)c->collective;
    const struct payload_dtype *d = &payload_dtypes[c->dtype];
    struct payload_words p;
    if (job->ranks < 2)
        return HOST_WHY(WL_FAIL, why, n, "%s needs 2 ranks or more: on 1 it is a copy",
                        collective ? "a collective" : "an all-reduce");
    if (c->hosts > job->ranks)
        return HOST_WHY(WL_FAIL, why, n, "hosts = %lld is more than the %d ranks",
                        (long long)c->hosts, job->ranks);
    if (!collective_divides(collective, c->size, d->size_B, dtypes[c->dtype], job->ranks, why, n))
        return WL_FAIL;
    if (collective != COLLECTIVE_ALLGATHER &&
        !payload_words_make(&p, (enum payload_type)c->dtype, 0, job->ranks, false, 1))
        return HOST_WHY(WL_SKIP, why, n,
                        "no sum of %s over %d ranks is exact, so no result could be checked",
                        d->name, job->ranks);
    if (c->metric == METRIC_L_ISO && job->nodes > 1)
        return HOST_WHY(WL_SKIP, why, n,
                        "L_iso reads the host's clock, which %d nodes do not share: use T_ss",
                        job->nodes);
    return WL_OK;
}

static enum wl_status describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                               char *why, size_t why_size)
{
    const struct nccl_cell *c = cell;
    const enum wl_status status = judge(c, job, why, why_size);
    if (status == WL_FAIL)
        return WL_FAIL;
    bool isolated = c->metric == METRIC_L_ISO;
    shape->size_B = c->size;
    shape->busbw_factor = collective_busbw_factor((enum collective)c->collective, job->ranks);
    /* Two buffers; cold ones rotate, at most one an operation, over 4 x L2 (64 MiB assumed). */
    uint64_t slots = c->buffers == BUFFERS_COLD && !isolated ? (256u << 20) / c->size + 1 : 1;
    if (slots > BACK_TO_BACK_MOST)
        slots = BACK_TO_BACK_MOST;
    /* The cells of a group share their buffers: the one that is all default counts them. Each has
     * a communicator. */
    bool counts = !c->algorithm && !c->protocol && !c->ctas && !c->memory;
    shape->device_B = COMM_MEMORY_B + (counts ? (c->in_place ? 1 : 2) * slots * c->size : 0);
    shape->iteration_s = estimate(c, job);
    shape->iters_min = isolated ? 1 : back_to_back(shape->iteration_s, c->launch);
    shape->iters_max = isolated ? 1 : 0;
    shape->span = isolated;
    shape->settled = nccl_lead(c, shape->iters_min) > 0;
    return status;
}

/* It stays loaded: CUDA and NCCL keep threads in it. */
static const struct nccl_backend *backend;

static enum wl_status open_nccl(void **self, const struct wl_host *host)
{
    char why[512];
    struct host_backend so;
    enum wl_status status =
        host_backend(&so, "cuda", NCCL_BACKEND_SYMBOL, sizeof *backend, why, sizeof why);
    if (status != WL_OK) {
        HOST_FAIL(host, "%s", why);
        return status;
    }
    backend = so.ops;
    return backend->open(self, host);
}

static void close_nccl(void *self)
{
    backend->close(self);
}

static enum wl_status prepare(void *self, const void *cell, void **prepared)
{
    return backend->prepare(self, cell, prepared);
}

static void release(void *prepared)
{
    backend->release(prepared);
}

static enum wl_status sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    return backend->sample(prepared, iters, out);
}

static enum wl_status verify(void *prepared)
{
    return backend->verify(prepared);
}

static void abort_nccl(void *self)
{
    backend->abort(self);
}

const struct wl_plugin wl_plugin_v1 = {
    .size = sizeof(struct wl_plugin),
    .name = "nccl_allreduce",
    .version = "1",
    .summary = "ncclAllReduce on GPUs, by algorithm, protocol and CTAs",
    .params = params,
    .cell_size = sizeof(struct nccl_cell),
    .metrics = metrics,
    .describe = describe,
    .open = open_nccl,
    .close = close_nccl,
    .prepare = prepare,
    .release = release,
    .sample = sample,
    .verify = verify,
    .abort = abort_nccl,
    .added = added,
};
