/* SPDX-License-Identifier: Apache-2.0
 *
 * Communicators do not block, so that a pair that does not answer can be given up: it alone is
 * aborted, and the GPU goes on with the others.
 */
#include "common/round_peer.h"
#include "pairs/cuda/pairs_cuda.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>

#define POLLS_A_LOOK 2048 /* looks at the clock and at errors once in so many polls */

void pair_end(struct state *s, int partner)
{
    if (s->pair[partner])
        ncclCommAbort(s->pair[partner]);
    s->pair[partner] = NULL;
}

static uint64_t deadline(const struct state *s)
{
    return gpu_now_ns() + (uint64_t)(s->cell.patience * 1e9);
}

/* WL_FAIL: the runner's own deadline is over. */
static enum wl_status look(struct state *s, uint64_t deadline_ns)
{
    sched_yield();
    if (!atomic_load(&s->gpu.aborted))
        return gpu_now_ns() > deadline_ns ? WL_RETRY : WL_OK;
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
        int b = round_peer(a, round - 1, host->ranks);
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

enum wl_status pair_meet(void *state, int round, int partner)
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
    if (status == WL_OK) /* connects and aligns the pair */
        status = queue(s, test, partner, deadline_ns);
    if (status == WL_OK)
        status = gpu_try(g, cudaEventRecord(g->start, g->stream), "cudaEventRecord");
    for (unsigned i = 0; i < times && status == WL_OK; i++)
        status = queue(s, test, partner, deadline_ns);
    if (status == WL_OK)
        status = gpu_try(g, cudaEventRecord(g->stop, g->stream), "cudaEventRecord");
    return status;
}

static enum wl_status check(struct state *s, enum pairs_test test, int partner)
{
    struct gpu *g = &s->gpu;
    int with = test == PAIRS_ALLREDUCE ? s->host->rank : -1;
    char what[64];
    snprintf(what, sizeof what, "data from rank %d", partner);
    cudaError_t e = gpu_record_clear(s->wrong, g->stream);
    if (!e)
        e = gpu_check(s->receive, s->cell.size / 4, 4, words_of(partner, with), 0, s->wrong,
                      g->stream);
    enum wl_status status = gpu_try(g, e, "checking a message");
    return status == WL_OK ? gpu_record_read(g, s->wrong, g->stream, what) : status;
}

enum wl_status pair_run(struct state *s, enum pairs_test test, int partner, unsigned times,
                        double *seconds)
{
    uint64_t deadline_ns = deadline(s);
    if (!s->pair[partner])
        return WL_RETRY;
    enum wl_status status = queue_all(s, test, partner, times, deadline_ns);
    if (status == WL_OK)
        status = wait(s, s->pair[partner], deadline_ns);
    if (status == WL_OK)
        status = elapsed(s, times, seconds);
    if (status == WL_RETRY)
        pair_end(s, partner);
    return status == WL_OK ? check(s, test, partner) : status;
}
