/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA side of pairs: the tests of one GPU and of two. Each pair has a communicator of its own.
 * Communicators do not block, so that a pair that does not answer can be given up: it alone is
 * aborted, and the GPU goes on with the others.
 */
#include "common/collective.h"
#include "common/cuda_comm.h"
#include "pairs/pairs.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
    const struct wl_host *host;
    struct pairs_cell cell;
    struct gpu gpu;
    struct comms comms;
    struct burn burn;         /* its GEMM and its copy are the tests of one GPU */
    ncclComm_t *pair;         /* by partner; NULL: none, or it did not answer */
    uint32_t *send, *receive; /* on the device */
    uint32_t *mine, *back;    /* on the host, pinned; mine: what `send` holds */
    struct gpu_mismatch *wrong;
};

/* The words of a rank's message. plus >= 0: their sums with the words of that rank. */
static struct gpu_words words_of(int rank, int plus)
{
    uint64_t words[PAYLOAD_WORDS];
    for (size_t i = 0; i < PAYLOAD_WORDS; i++)
        words[i] = (uint32_t)(pairs_word(rank, i) + (plus < 0 ? 0 : pairs_word(plus, i)));
    return gpu_words(words);
}

/* Seconds of one of `times` operations between the events of the GPU, which have happened. */
static enum wl_status elapsed(struct state *s, unsigned times, double *seconds)
{
    float ms = 0;
    enum wl_status status = gpu_try(&s->gpu, cudaEventElapsedTime(&ms, s->gpu.start, s->gpu.stop),
                                    "cudaEventElapsedTime");
    *seconds = (double)ms * 1e-3 / times;
    return status;
}

/* ---- one GPU ---- */

#define TOLERANCE 8e-3 /* of a GEMM in bf16 */
/* Of 20 to 40 us on an H200, in one test. Another process on a GPU works in bursts of some
 * milliseconds; a test that is shorter meets all of a burst or nothing of it. */
#define PIECES 512

/* Pieces of a lane of the burn, which are the same on every GPU. */
static enum wl_status run_lane(struct state *s, struct burn_lane *lane, unsigned times,
                               double *seconds)
{
    enum wl_status status = burn_alone(&s->burn, lane, BURN_AHEAD); /* wakes the GPU up */
    TRY(status, burn_alone(&s->burn, lane, PIECES * times));
    *seconds = lane->rate > 0 ? lane->piece / lane->rate : NAN;
    return status;
}

/* cuBLAS stores matrices by columns, the check reads them by rows: it sees transposes. */
static enum wl_status check_gemm(struct state *s)
{
    const struct burn *b = &s->burn;
    const struct gpu_gemm g = {.a = b->b,
                               .b = b->a,
                               .c = b->c,
                               .m = BURN_GEMM_N,
                               .n = BURN_GEMM_N,
                               .k = BURN_GEMM_N,
                               .element_B = 2};
    cudaError_t e = gpu_record_clear(s->wrong, s->gpu.stream);
    if (!e)
        e = gpu_gemm_check(&g, TOLERANCE, s->wrong, s->gpu.stream);
    enum wl_status status = gpu_try(&s->gpu, e, "checking the GEMM");
    TRY(status, gpu_record_read(&s->gpu, s->wrong, s->gpu.stream, "the GEMM"));
    return status;
}

/* Compares what a rank received with what its peer sent. */
static enum wl_status check_words(struct state *s, struct gpu_words words, const char *what)
{
    struct gpu *g = &s->gpu;
    cudaError_t e = gpu_record_clear(s->wrong, g->stream);
    if (!e)
        e = gpu_check(s->receive, s->cell.size / 4, 4, words, 0, s->wrong, g->stream);
    enum wl_status status = gpu_try(g, e, "comparing what a rank received with what was sent");
    TRY(status, gpu_record_read(g, s->wrong, g->stream, what));
    return status;
}

static cudaError_t copy(struct state *s, enum pairs_test test)
{
    size_t bytes = s->cell.size;
    return test == PAIRS_TO_DEVICE
               ? cudaMemcpyAsync(s->receive, s->mine, bytes, cudaMemcpyHostToDevice, s->gpu.stream)
               : cudaMemcpyAsync(s->back, s->send, bytes, cudaMemcpyDeviceToHost, s->gpu.stream);
}

static enum wl_status check_copy(struct state *s, enum pairs_test test)
{
    if (test == PAIRS_FROM_DEVICE) {
        if (memcmp(s->back, s->mine, s->cell.size) == 0)
            return WL_OK;
        return HOST_FAILED(s->host, "GPU %d: a copy to the host is wrong", s->gpu.device);
    }
    return check_words(s, words_of(s->host->rank, -1), "a copy from the host");
}

static enum wl_status run_copies(struct state *s, enum pairs_test test, unsigned times,
                                 double *seconds)
{
    cudaError_t e = copy(s, test);
    if (!e)
        e = cudaEventRecord(s->gpu.start, s->gpu.stream);
    for (unsigned i = 0; i < times && !e; i++)
        e = copy(s, test);
    if (!e)
        e = cudaEventRecord(s->gpu.stop, s->gpu.stream);
    if (!e)
        e = cudaStreamSynchronize(s->gpu.stream);
    enum wl_status status = gpu_try(&s->gpu, e, "cudaMemcpyAsync");
    TRY(status, elapsed(s, times, seconds));
    TRY(status, check_copy(s, test));
    return status;
}

static enum wl_status own_run(struct state *s, enum pairs_test test, unsigned times,
                              double *seconds)
{
    if (test == PAIRS_MEMORY)
        return run_lane(s, &s->burn.traffic, times, seconds);
    if (test != PAIRS_GEMM)
        return run_copies(s, test, times, seconds);
    enum wl_status status = run_lane(s, &s->burn.gemm, times, seconds);
    TRY(status, check_gemm(s));
    return status;
}

/* ---- two GPUs ---- */

#define POLLS_A_LOOK 2048 /* looks at the clock and at errors once in so many polls */

static void pair_end(struct state *s, int partner)
{
    if (s->pair[partner])
        ncclCommAbort(s->pair[partner]);
    s->pair[partner] = NULL;
}

static uint64_t deadline(const struct state *s)
{
    return now_ns() + (uint64_t)(s->cell.patience * 1e9);
}

/* WL_FAIL: the runner's own deadline is over. */
static enum wl_status look(struct state *s, uint64_t deadline_ns)
{
    sched_yield();
    if (!atomic_load(&s->gpu.aborted))
        return now_ns() > deadline_ns ? WL_RETRY : WL_OK;
    return HOST_FAILED(s->host, "not finished by its deadline");
}

/* Waits until a call that does not block is over. WL_RETRY: it failed, or takes too long. */
static enum wl_status settle(struct state *s, ncclComm_t comm, ncclResult_t result,
                             uint64_t deadline_ns)
{
    enum wl_status status = WL_OK;
    while (result == ncclInProgress && status == WL_OK) {
        status = look(s, deadline_ns);
        if (ncclCommGetAsyncError(comm, &result) != ncclSuccess)
            return WL_RETRY;
    }
    return status != WL_OK ? status : result == ncclSuccess ? WL_OK : WL_RETRY;
}

static enum wl_status wait(struct state *s, ncclComm_t comm, uint64_t deadline_ns)
{
    for (unsigned polls = 1;; polls++) {
        ncclResult_t result = ncclSuccess;
        cudaError_t e = cudaEventQuery(s->gpu.stop);
        if (e == cudaSuccess)
            return WL_OK;
        if (e != cudaErrorNotReady)
            return gpu_try(&s->gpu, e, "waiting for the partner");
        if (polls % POLLS_A_LOOK)
            continue;
        enum wl_status status = look(s, deadline_ns);
        if (status == WL_OK && (ncclCommGetAsyncError(comm, &result) != ncclSuccess ||
                                (result != ncclSuccess && result != ncclInProgress)))
            status = WL_RETRY;
        if (status != WL_OK)
            return status;
    }
}

/* The lower rank of each pair makes its id; every rank hears all of them. */
static bool hear_id(struct state *s, int round, ncclUniqueId *mine)
{
    const struct wl_host *host = s->host;
    bool got = false;
    for (int a = 0; a < host->ranks; a++) {
        int b = collective_round_peer(a, round - 1, host->ranks);
        struct {
            ncclUniqueId id;
            bool good;
        } of = {.good = false};
        if (b < a)
            continue;
        if (a == host->rank)
            of.good = ncclGetUniqueId(&of.id) == ncclSuccess;
        host->bcast(host->ctx, &of, sizeof of, a);
        if (a == host->rank || b == host->rank) {
            *mine = of.id;
            got = of.good;
        }
    }
    return got;
}

static enum wl_status pair_meet(void *state, int round, int partner)
{
    struct state *s = state;
    ncclUniqueId id;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    if (!hear_id(s, round, &id))
        return partner < 0 ? WL_OK : WL_RETRY;
    ncclComm_t *comm = &s->pair[partner];
    ncclResult_t result = ncclCommInitRankConfig(comm, 2, id, s->host->rank > partner, &config);
    enum wl_status status = *comm ? settle(s, *comm, result, deadline(s)) : WL_RETRY;
    if (status != WL_OK)
        pair_end(s, partner);
    return gpu_status(&s->gpu, status);
}

static enum wl_status queue(struct state *s, enum pairs_test test, int partner,
                            uint64_t deadline_ns)
{
    ncclComm_t comm = s->pair[partner];
    cudaStream_t stream = s->gpu.stream;
    size_t n = s->cell.size / 4;
    int other = s->host->rank < partner;
    if (test == PAIRS_ALLREDUCE)
        return settle(s, comm,
                      ncclAllReduce(s->send, s->receive, n, ncclUint32, ncclSum, comm, stream),
                      deadline_ns);
    ncclResult_t result = ncclGroupStart();
    if (result == ncclSuccess)
        result = ncclSend(s->send, n, ncclUint32, other, comm, stream);
    if (result == ncclSuccess || result == ncclInProgress)
        result = ncclRecv(s->receive, n, ncclUint32, other, comm, stream);
    ncclResult_t end = ncclGroupEnd();
    return settle(s, comm, result == ncclSuccess || result == ncclInProgress ? end : result,
                  deadline_ns);
}

static enum wl_status queue_all(struct state *s, enum pairs_test test, int partner, unsigned times,
                                uint64_t deadline_ns)
{
    struct gpu *g = &s->gpu;
    cudaError_t e = cudaMemsetAsync(s->receive, 0, s->cell.size, g->stream);
    enum wl_status status = gpu_try(g, e, "cudaMemsetAsync");
    TRY(status, queue(s, test, partner, deadline_ns)); /* connects and aligns the pair */
    TRY(status, gpu_try(g, cudaEventRecord(g->start, g->stream), "cudaEventRecord"));
    for (unsigned i = 0; i < times; i++)
        TRY(status, queue(s, test, partner, deadline_ns));
    TRY(status, gpu_try(g, cudaEventRecord(g->stop, g->stream), "cudaEventRecord"));
    return status;
}

static enum wl_status check(struct state *s, enum pairs_test test, int partner)
{
    int with = test == PAIRS_ALLREDUCE ? s->host->rank : -1;
    char what[64];
    snprintf(what, sizeof what, "data from rank %d", partner);
    return check_words(s, words_of(partner, with), what);
}

static enum wl_status pair_run(struct state *s, enum pairs_test test, int partner, unsigned times,
                               double *seconds)
{
    uint64_t deadline_ns = deadline(s);
    if (!s->pair[partner])
        return WL_RETRY;
    enum wl_status status = queue_all(s, test, partner, times, deadline_ns);
    TRY(status, wait(s, s->pair[partner], deadline_ns));
    TRY(status, elapsed(s, times, seconds));
    if (status == WL_RETRY)
        pair_end(s, partner);
    TRY(status, check(s, test, partner));
    return status;
}

/* ---- both ---- */

static void close_cuda(void *state)
{
    struct state *s = state;
    for (int i = 0; s->pair && i < s->host->ranks; i++)
        pair_end(s, i);
    burn_close(&s->burn);
    cudaFree(s->send);
    cudaFree(s->receive);
    cudaFree(s->wrong);
    cudaFreeHost(s->mine);
    cudaFreeHost(s->back);
    cuda_close(&s->gpu, &s->comms);
    free(s->pair);
    free(s);
}

static enum wl_status allocate(struct state *s, char *why, size_t n)
{
    size_t bytes = s->cell.size;
    enum wl_status status = burn_open(&s->burn, &s->gpu, why, n);
    if (status != WL_OK)
        return status;
    if (gpu_alloc((void **)&s->send, bytes, why, n) ||
        gpu_alloc((void **)&s->receive, bytes, why, n))
        return WL_SKIP;
    status = gpu_record_new(&s->wrong, why, n);
    cudaError_t e = cudaMallocHost((void **)&s->mine, bytes);
    if (!e)
        e = cudaMallocHost((void **)&s->back, bytes);
    if (!e)
        e = gpu_fill(s->send, bytes / 4, 4, words_of(s->host->rank, -1), 0, s->gpu.stream);
    if (!e)
        e = cudaMemcpyAsync(s->mine, s->send, bytes, cudaMemcpyDeviceToHost, s->gpu.stream);
    if (!e)
        e = cudaStreamSynchronize(s->gpu.stream);
    return status == WL_OK ? gpu_try(&s->gpu, e, "setting up") : status;
}

static enum wl_status open_cuda(void **state, const struct wl_host *host,
                                const struct pairs_cell *cell)
{
    char why[256] = "the GPU cannot be set up";
    struct state *s = calloc(1, sizeof *s);
    if (s)
        s->pair = calloc((size_t)host->ranks, sizeof(ncclComm_t));
    if (!s || !s->pair) {
        free(s);
        return HOST_FAILED(host, "out of host memory");
    }
    s->host = host;
    s->cell = *cell;
    enum wl_status status = cuda_open(&s->gpu, &s->comms, host);
    TRY(status, host_agree(host, allocate(s, why, sizeof why), why));
    if (status == WL_OK)
        *state = s;
    else
        close_cuda(s);
    return status;
}

static enum wl_status run(void *state, enum pairs_test test, int partner, unsigned times,
                          double *seconds)
{
    const struct state *s = state;
    return gpu_status(&s->gpu, test < PAIRS_ALONE ? own_run(state, test, times, seconds)
                                                  : pair_run(state, test, partner, times, seconds));
}

static void abort_cuda(void *state)
{
    struct state *s = state;
    cuda_abort(&s->gpu, &s->comms);
}

__attribute__((visibility("default"))) extern const struct pairs_backend pairs_backend_v1;
const struct pairs_backend pairs_backend_v1 = {.size = sizeof(struct pairs_backend),
                                               .open = open_cuda,
                                               .close = close_cuda,
                                               .meet = pair_meet,
                                               .run = run,
                                               .abort = abort_cuda};
