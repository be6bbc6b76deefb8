/* SPDX-License-Identifier: Apache-2.0
 *
 * pairs: what `gradsync suspects` measures. In round 0 each rank computes and copies by itself; in
 * round 1 and later, ranks exchange messages in pairs, all pairs of a round at once (round_peer.h), or
 * one of them alone. Each rank's own time of each test is recorded.
 *
 * A pair that does not answer within `patience` has no values from then on. The rest goes on.
 */
#include "pairs/pairs.h"

#include "common/beside.h"
#include "common/clock.h"
#include "common/comm_memory.h"
#include "common/round_peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const backends[] = {"host", "cuda", NULL};

#define P(member, type, role, ctype) #member, type, role, WL_FIELD(struct pairs_cell, member, ctype)
/* clang-format off */
static const struct wl_param params[] = {
    {P(backend, WL_CHOICE, WL_AXIS, int), NULL, "host", 0, 0, backends,
     "host: processors, and messages by MPI; cuda: GPUs, and messages by NCCL"},
    {P(size, WL_SIZE, WL_AXIS, uint64_t), "B", "4MiB", 64, 1ull << 32, NULL,
     "bytes of a message, and of a copy between host and device; a multiple of 64"},
    {P(gemm, WL_INT, WL_AXIS, int64_t), NULL, "512", 16, 16384, NULL,
     "dimension n of an n x n x n GEMM on the host; cuda: 2048, in bf16"},
    {P(patience, WL_TIME, WL_AXIS, double), "s", "10s", 0.1, 3600, NULL,
     "time limit of a pair for one sample of a test; a pair that exceeds it is left out"},
    {P(round, WL_INT, WL_MODE, int64_t), NULL, "0", 0, 1e5, NULL,
     "0: each rank by itself; from 1: round of a tournament in which each pair meets once"},
    {P(alone, WL_INT, WL_MODE, int64_t), NULL, "-1", -1, 1e5, NULL,
     "only the pair of this rank runs; -1: all pairs of the round at once"},
    {0}};

static const struct wl_metric metrics[] = {
    {"time", "s", "one iteration of all tests of the round, with waits", WL_MAX},
    {"gemm", "s", "one GEMM", WL_EACH},
    {"memory", "s", "a copy of 64 MiB in the memory of the processor or GPU", WL_EACH},
    {"to_device", "s", "a copy of `size` from the host to the GPU", WL_EACH},
    {"from_device", "s", "a copy of `size` from the GPU to the host", WL_EACH},
    {"sendrecv", "s", "a message of `size` to the partner and one from it, at once", WL_EACH},
    {"allreduce", "s", "an all-reduce of `size` of the pair", WL_EACH},
    {0}};
/* clang-format on */

#define MEMORY_B (UINT64_C(64) << 20) /* of the memory test */
/* For plans alone. */
#define ROUGH_HOST_BPS 2e9
#define ROUGH_GPU_BPS 50e9
#define ROUGH_OWN_S 20e-3

static enum wl_status describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                               char *why, size_t why_size)
{
    const struct pairs_cell *c = cell;
    int rounds = job->ranks > 1 ? round_count(job->ranks) : 0;
    if (c->size == 0 || c->size % 64 != 0) {
        snprintf(why, why_size, "size=%llu is not a multiple of 64", (unsigned long long)c->size);
        return WL_FAIL;
    }
    if (c->round > rounds || c->alone >= job->ranks || (c->alone >= 0 && c->round == 0)) {
        snprintf(why, why_size, "round=%lld alone=%lld: %d ranks have rounds 0 to %d",
                 (long long)c->round, (long long)c->alone, job->ranks, rounds);
        return WL_FAIL;
    }
    shape->size_B = c->round ? c->size : 0;
    /* The cells of a group share their buffers: the first counts them. Each round has communicators. */
    uint64_t shared = c->round ? 0 : 2 * c->size + 3 * MEMORY_B;
    if (c->backend == PAIRS_HOST)
        shape->host_B = shared;
    else
        shape->device_B = shared + COMM_MEMORY_B;
    shape->iteration_s = c->round
                             ? 2 * (double)c->size / (c->backend ? ROUGH_GPU_BPS : ROUGH_HOST_BPS)
                             : ROUGH_OWN_S;
    shape->iters_min = 1;
    return WL_OK;
}

struct self {
    const struct wl_host *host;
    const struct pairs_backend *ops;
    void *state;          /* of the backend; NULL: not open */
    struct pairs_cell of; /* the cell that it was opened for */
    bool *met;            /* by round */
    bool *lost;           /* by partner: it did not answer */
};

struct prepared {
    struct self *self;
    struct pairs_cell cell;
    int partner; /* -1: none */
};

static void close_backend(struct self *s)
{
    if (s->state)
        s->ops->close(s->state);
    s->state = NULL;
    for (int i = 0; i <= s->host->ranks; i++)
        s->met[i] = false;
}

static void close_pairs(void *self)
{
    struct self *s = self;
    close_backend(s);
    free(s->met);
    free(s->lost);
    free(s);
}

static enum wl_status open_pairs(void **self, const struct wl_host *host)
{
    struct self *s = calloc(1, sizeof *s);
    if (s) {
        s->host = host;
        s->met = calloc((size_t)host->ranks + 1, sizeof *s->met);
        s->lost = calloc((size_t)host->ranks + 1, sizeof *s->lost);
    }
    if (!s || !s->met || !s->lost) {
        host->fail(host->ctx, "out of memory");
        if (s)
            close_pairs(s);
        return WL_FAIL;
    }
    *self = s;
    return WL_OK;
}

static enum wl_status load(struct self *s, int kind)
{
    struct beside so;
    char why[512];
    if (kind == PAIRS_HOST) {
        s->ops = &pairs_host;
        return WL_OK;
    }
    enum wl_status status =
        beside_open(&so, backends[kind], PAIRS_BACKEND_SYMBOL, sizeof *s->ops, why, sizeof why);
    if (status != WL_OK)
        s->host->fail(s->host->ctx, "%s", why);
    s->ops = so.ops;
    return status;
}

/* One backend is open, for the group that is measured. */
static enum wl_status use(struct self *s, const struct pairs_cell *c)
{
    bool same = s->state && s->of.backend == c->backend && s->of.size == c->size &&
                s->of.gemm == c->gemm && !(s->of.patience < c->patience) &&
                !(s->of.patience > c->patience);
    if (same)
        return WL_OK;
    close_backend(s);
    s->of = *c;
    enum wl_status status = load(s, c->backend);
    return status == WL_OK ? s->ops->open(&s->state, s->host, c) : status;
}

static enum wl_status meet(struct self *s, int round)
{
    int partner = round_peer(s->host->rank, round - 1, s->host->ranks);
    if (s->met[round])
        return WL_OK;
    s->met[round] = true;
    enum wl_status status = s->ops->meet(s->state, round, partner);
    if (status != WL_RETRY)
        return status;
    s->lost[partner] = true;
    return WL_OK;
}

static enum wl_status prepare(void *self, const void *cell, void **prepared)
{
    struct self *s = self;
    const struct pairs_cell *c = cell;
    enum wl_status status = use(s, c);
    if (status == WL_OK && c->round)
        status = meet(s, (int)c->round);
    if (status != WL_OK)
        return status;
    struct prepared *p = calloc(1, sizeof *p);
    if (!p)
        return WL_FAIL;
    *p = (struct prepared){.self = s, .cell = *c, .partner = -1};
    if (c->round)
        p->partner = round_peer(s->host->rank, (int)c->round - 1, s->host->ranks);
    if (c->alone >= 0 && c->alone != s->host->rank && c->alone != p->partner)
        p->partner = -1;
    *prepared = p;
    return WL_OK;
}

static void release(void *prepared)
{
    free(prepared);
}

static enum wl_status run(struct prepared *p, enum pairs_test test, unsigned iters, double *seconds)
{
    struct self *s = p->self;
    bool pair = test >= PAIRS_ALONE;
    *seconds = NAN;
    if (pair && (p->partner < 0 || s->lost[p->partner]))
        return WL_OK;
    enum wl_status status = s->ops->run(s->state, test, p->partner, iters, seconds);
    if (status != WL_RETRY)
        return status;
    *seconds = NAN;
    s->lost[p->partner] = true;
    return WL_OK;
}

static enum wl_status sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    struct prepared *p = prepared;
    const struct wl_host *host = p->self->host;
    int first = p->cell.round ? PAIRS_ALONE : 0, end = p->cell.round ? PAIRS_TESTS : PAIRS_ALONE;
    enum wl_status worst = WL_OK;
    for (int i = 0; i < PAIRS_TESTS; i++)
        out->values[1 + i] = NAN;
    host->barrier(host->ctx);
    out->start_ns = now_ns();
    for (int test = first; test < end; test++) {
        enum wl_status status =
            worst == WL_OK ? run(p, (enum pairs_test)test, iters, &out->values[1 + test]) : WL_OK;
        worst = status == WL_OK ? worst : status;
        host->barrier(host->ctx);
    }
    out->end_ns = now_ns();
    out->values[0] = (double)(out->end_ns - out->start_ns) * 1e-9 / iters;
    return worst;
}

/* run() checks each result behind its operation. */
static enum wl_status verify(void *prepared)
{
    (void)prepared;
    return WL_OK;
}

static void abort_pairs(void *self)
{
    struct self *s = self;
    if (s->state && s->ops->abort)
        s->ops->abort(s->state);
}

const struct wl_plugin wl_plugin_v1 = {
    .size = sizeof(struct wl_plugin),
    .name = "pairs",
    .version = "1",
    .summary = "each rank by itself and each pair of ranks, for gradsync suspects",
    .params = params,
    .cell_size = sizeof(struct pairs_cell),
    .metrics = metrics,
    .describe = describe,
    .open = open_pairs,
    .close = close_pairs,
    .prepare = prepare,
    .release = release,
    .sample = sample,
    .verify = verify,
    .abort = abort_pairs,
};
