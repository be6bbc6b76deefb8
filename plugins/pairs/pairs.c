/* SPDX-License-Identifier: Apache-2.0
 *
 * pairs: what `gradsync suspects` measures. In round 0 each rank computes and copies by itself; in
 * round 1 and later, ranks exchange messages in pairs, all pairs of a round at once (collective.h).
 * Each rank's own time of each test is recorded.
 *
 * A pair that does not answer within `patience` has no values from then on. The rest goes on.
 */
#include "pairs/pairs.h"

#include "common/clock.h"
#include "common/collective.h"
#include "common/gemm.h"
#include "common/host.h"
#include "common/mpi_calls.h"

#include <cblas.h>
#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

#define MEMORY_B ((size_t)64 << 20) /* of the memory test */
/* For plans alone. */
#define ROUGH_HOST_BPS 2e9
#define ROUGH_GPU_BPS 50e9
#define ROUGH_OWN_S 20e-3

static enum wl_status describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                               char *why, size_t why_size)
{
    const struct pairs_cell *c = cell;
    int rounds = job->ranks > 1 ? collective_rounds(job->ranks) : 0;
    if (c->size == 0 || c->size % 64 != 0) {
        snprintf(why, why_size, "size=%llu is not a multiple of 64", (unsigned long long)c->size);
        return WL_FAIL;
    }
    if (c->round > rounds) {
        snprintf(why, why_size, "round=%lld: %d ranks have rounds 0 to %d", (long long)c->round,
                 job->ranks, rounds);
        return WL_FAIL;
    }
    shape->size_B = c->round ? c->size : 0;
    /* The cells of a group share their buffers: the first counts them. Each round has
     * communicators. */
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

/* ---- the backend of the host ----
 *
 * A GEMM by the BLAS on one thread, a copy in memory, and messages by MPI. A pair has a
 * communicator of its own. MPI cannot end a message that does not arrive, so its request and its
 * buffer stay until the process ends.
 */

#define HUGE_PAGE_B ((size_t)2 << 20)
#define TAG 3
/* GEMMs of 3 ms in one test, as in cuda/pairs_cuda.c: a processor is taken away for some
 * milliseconds at a time. */
#define PIECES 8

struct on_host {
    const struct wl_host *host;
    struct pairs_cell cell;
    MPI_Comm world, *pair;   /* pair: by partner */
    struct shared *operands; /* of one */
    struct gemm *gemm;
    char *from, *to; /* of the copy */
    uint32_t *send, *receive;
    bool hung; /* MPI still has the buffers */
};

static void host_close(void *state)
{
    struct on_host *s = state;
    for (int i = 0; s->pair && i < s->host->ranks; i++)
        if (s->pair[i] != MPI_COMM_NULL && !s->hung)
            MPI_Comm_free(&s->pair[i]);
    if (s->world != MPI_COMM_NULL && !s->hung)
        MPI_Comm_free(&s->world);
    gemm_drop(&s->operands, s->gemm);
    free(s->pair);
    free(s->from);
    free(s->to);
    if (!s->hung) {
        free(s->send);
        free(s->receive);
    }
    free(s);
}

/* Small pages lie differently in each launch, which changes the rate of a copy. */
static void *huge_pages(size_t bytes)
{
    void *p = aligned_alloc(HUGE_PAGE_B, bytes);
    if (p)
        (void)madvise(p, bytes, MADV_HUGEPAGE); /* where the kernel has them */
    return p;
}

static bool allocate(struct on_host *s)
{
    size_t n = (size_t)s->cell.gemm;
    s->pair = calloc((size_t)s->host->ranks, sizeof *s->pair);
    s->from = huge_pages(MEMORY_B);
    s->to = huge_pages(MEMORY_B);
    s->send = malloc(s->cell.size);
    s->receive = malloc(s->cell.size);
    s->gemm = gemm_take(&s->operands, (struct gemm_space){n * n, n * n, n * n}, s->host->seed);
    if (!s->pair || !s->from || !s->to || !s->send || !s->receive || !s->gemm)
        return false;
    for (int i = 0; i < s->host->ranks; i++)
        s->pair[i] = MPI_COMM_NULL;
    memset(s->to, 0, MEMORY_B);
    for (size_t i = 0; i < MEMORY_B / sizeof(uint32_t); i++)
        ((uint32_t *)s->from)[i] = pairs_word(s->host->rank, i);
    for (size_t i = 0; i < s->cell.size / sizeof *s->send; i++)
        s->send[i] = pairs_word(s->host->rank, i);
    return true;
}

static enum wl_status host_open(void **state, const struct wl_host *host,
                                const struct pairs_cell *cell)
{
    struct on_host *s = calloc(1, sizeof *s);
    if (!s)
        return HOST_FAILED(host, "out of memory");
    *s = (struct on_host){.host = host, .cell = *cell, .world = MPI_COMM_NULL};
    enum wl_status status = mpi_try(host, mpi_dup(MPI_COMM_WORLD, &s->world), "MPI_Comm_dup");
    if (status == WL_OK && !allocate(s))
        status = HOST_FAILED(host, "no memory for messages of %llu bytes and copies of 64 MiB",
                             (unsigned long long)cell->size);
    openblas_set_num_threads(1);
    if (status == WL_OK)
        *state = s;
    else
        host_close(s);
    return status;
}

static enum wl_status host_meet(void *state, int round, int partner)
{
    struct on_host *s = state;
    MPI_Comm pair;
    (void)round;
    int rank = s->host->rank, color = partner < rank ? partner : rank;
    int rc = MPI_Comm_split(s->world, partner < 0 ? MPI_UNDEFINED : color, rank, &pair);
    if (rc == MPI_SUCCESS && partner >= 0)
        s->pair[partner] = pair;
    return mpi_try(s->host, rc, "MPI_Comm_split");
}

/* ---- messages ---- */

/* Polls, so that a message that does not arrive can be given up. */
static enum wl_status wait(struct on_host *s, MPI_Request *requests, int n, uint64_t deadline_ns)
{
    for (int done = 0, polls = 1; !done; polls++) {
        int rc = MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
        if (rc != MPI_SUCCESS)
            return mpi_try(s->host, rc, "MPI_Testall");
        if (!done && now_ns() > deadline_ns) {
            s->hung = true;
            return WL_RETRY;
        }
        if (polls % 64 == 0)
            sched_yield();
    }
    return WL_OK;
}

static enum wl_status once(struct on_host *s, enum pairs_test test, int partner,
                           uint64_t deadline_ns)
{
    MPI_Comm pair = s->pair[partner];
    int n = (int)(s->cell.size / sizeof *s->send), other = s->host->rank < partner;
    MPI_Request requests[2];
    int rc;
    if (test == PAIRS_ALLREDUCE) {
        rc = MPI_Iallreduce(s->send, s->receive, n, MPI_UINT32_T, MPI_SUM, pair, requests);
    } else {
        rc = MPI_Irecv(s->receive, n, MPI_UINT32_T, other, TAG, pair, &requests[0]);
        if (rc == MPI_SUCCESS)
            rc = MPI_Isend(s->send, n, MPI_UINT32_T, other, TAG, pair, &requests[1]);
    }
    if (rc != MPI_SUCCESS)
        return mpi_try(s->host, rc, "a message");
    return wait(s, requests, test == PAIRS_ALLREDUCE ? 1 : 2, deadline_ns);
}

static enum wl_status host_check(const struct on_host *s, enum pairs_test test, int partner)
{
    for (size_t i = 0; i < s->cell.size / sizeof *s->receive; i++) {
        uint32_t want = pairs_word(partner, i);
        if (test == PAIRS_ALLREDUCE)
            want += pairs_word(s->host->rank, i);
        if (s->receive[i] == want)
            continue;
        return HOST_FAILED(s->host, "rank %d got wrong data from rank %d: word %zu is %u, not %u",
                           s->host->rank, partner, i, s->receive[i], want);
    }
    return WL_OK;
}

static enum wl_status run_pair(struct on_host *s, enum pairs_test test, int partner, unsigned times,
                               double *seconds)
{
    uint64_t deadline_ns = now_ns() + (uint64_t)(s->cell.patience * 1e9);
    memset(s->receive, 0, s->cell.size);
    enum wl_status status = once(s, test, partner, deadline_ns); /* aligns the pair */
    double start = now_s();
    for (unsigned i = 0; i < times; i++)
        TRY(status, once(s, test, partner, deadline_ns));
    *seconds = (now_s() - start) / times;
    TRY(status, host_check(s, test, partner));
    return status;
}

/* ---- a rank by itself ---- */

static enum wl_status run_gemm(struct on_host *s, unsigned times, double *seconds)
{
    size_t n = (size_t)s->cell.gemm;
    const struct gemm_shape shape = {.m = n, .n = n, .k = n};
    gemm_poison(s->gemm);
    gemm_run(s->gemm, &shape, 1);
    double start = now_s();
    gemm_run(s->gemm, &shape, times * PIECES);
    *seconds = (now_s() - start) / times / PIECES;
    if (gemm_check(s->gemm, &shape))
        return WL_OK;
    return HOST_FAILED(s->host, "rank %d computed a wrong GEMM", s->host->rank);
}

static enum wl_status run_memory(struct on_host *s, unsigned times, double *seconds)
{
    double start = now_s();
    for (unsigned i = 0; i < times; i++) {
        memcpy(s->to, s->from, MEMORY_B);
        __asm__ volatile("" : : "r"(s->to) : "memory"); /* each copy is made */
    }
    *seconds = (now_s() - start) / times;
    if (memcmp(s->to, s->from, MEMORY_B) == 0)
        return WL_OK;
    return HOST_FAILED(s->host, "rank %d copied memory wrong", s->host->rank);
}

static enum wl_status host_run(void *state, enum pairs_test test, int partner, unsigned times,
                               double *seconds)
{
    struct on_host *s = state;
    switch (test) {
    case PAIRS_GEMM:
        return run_gemm(s, times, seconds);
    case PAIRS_MEMORY:
        return run_memory(s, times, seconds);
    case PAIRS_SENDRECV:
    case PAIRS_ALLREDUCE:
        return run_pair(s, test, partner, times, seconds);
    default:
        *seconds = NAN;
        return WL_OK;
    }
}

static const struct pairs_backend pairs_host = {.size = sizeof(struct pairs_backend),
                                                .open = host_open,
                                                .close = host_close,
                                                .meet = host_meet,
                                                .run = host_run};

/* ---- the plugin ---- */

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
    int round, partner; /* partner -1: none */
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
    free(s->met); /* and lost */
    free(s);
}

static enum wl_status open_pairs(void **self, const struct wl_host *host)
{
    size_t n = (size_t)host->ranks + 1;
    struct self *s = calloc(1, sizeof *s);
    bool *flags = calloc(2 * n, sizeof *flags);
    if (!s || !flags) {
        free(s);
        free(flags);
        return HOST_FAILED(host, "out of memory");
    }
    *s = (struct self){.host = host, .met = flags, .lost = flags + n};
    *self = s;
    return WL_OK;
}

static enum wl_status load(struct self *s, int kind)
{
    struct host_backend so;
    char why[512];
    if (kind == PAIRS_HOST) {
        s->ops = &pairs_host;
        return WL_OK;
    }
    enum wl_status status =
        host_backend(&so, backends[kind], PAIRS_BACKEND_SYMBOL, sizeof *s->ops, why, sizeof why);
    if (status != WL_OK)
        HOST_FAIL(s->host, "%s", why);
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
    TRY(status, s->ops->open(&s->state, s->host, c));
    return status;
}

static enum wl_status meet(struct self *s, int round)
{
    int partner = collective_round_peer(s->host->rank, round - 1, s->host->ranks);
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
    if (c->round)
        TRY(status, meet(s, (int)c->round));
    if (status != WL_OK)
        return status;
    struct prepared *p = calloc(1, sizeof *p);
    if (!p)
        return HOST_FAILED(s->host, "out of memory");
    int partner = collective_round_peer(s->host->rank, (int)c->round - 1, s->host->ranks);
    *p = (struct prepared){.self = s, .round = (int)c->round, .partner = partner};
    *prepared = p;
    return WL_OK;
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
    int first = p->round ? PAIRS_ALONE : 0, end = p->round ? PAIRS_TESTS : PAIRS_ALONE;
    enum wl_status status = WL_OK;
    for (int i = 0; i < PAIRS_TESTS; i++)
        out->values[1 + i] = NAN;
    host->barrier(host->ctx);
    out->start_ns = now_ns();
    for (int test = first; test < end; test++) {
        TRY(status, run(p, (enum pairs_test)test, iters, &out->values[1 + test]));
        host->barrier(host->ctx);
    }
    out->end_ns = now_ns();
    out->values[0] = (double)(out->end_ns - out->start_ns) * 1e-9 / iters;
    return status;
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
    .release = free,
    .sample = sample,
    .verify = verify,
    .abort = abort_pairs,
};
