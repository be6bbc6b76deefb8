/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cuda_collective.h"

/* Inputs that are copied differ between ranks: each begins elsewhere in the pattern. */
#define RANK_SALT 7919u

const char *nccl_operation_name(const struct nccl_operation *o)
{
    static const char *const names[COLLECTIVES] = {
        [COLLECTIVE_ALLREDUCE] = "ncclAllReduce",
        [COLLECTIVE_ALLGATHER] = "ncclAllGather",
        [COLLECTIVE_REDUCESCATTER] = "ncclReduceScatter",
    };
    return names[o->collective];
}

ncclResult_t nccl_operation_queue(struct comms *c, struct comm *comm,
                                  const struct nccl_operation *o, char *in, char *out)
{
    const struct payload_dtype *d = &payload_dtypes[o->type];
    const int rank = c->gpu->host->rank, ranks = c->gpu->host->ranks;
    const char *send =
        in + collective_input(o->collective, rank, ranks, o->count, o->in_place).first * d->size_B;
    char *recv = out + collective_output(o->collective, rank, ranks, o->count, o->in_place).first *
                           d->size_B;
    const size_t block = o->count / (size_t)ranks;
    const ncclDataType_t type = (ncclDataType_t)d->nccl;
    ncclComm_t nccl = atomic_load(&comm->nccl);
    cudaStream_t stream = c->gpu->stream;
    if (o->collective == COLLECTIVE_ALLGATHER)
        return ncclAllGather(send, recv, block, type, nccl, stream);
    if (o->collective == COLLECTIVE_REDUCESCATTER)
        return ncclReduceScatter(send, recv, block, type, ncclSum, nccl, stream);
    return ncclAllReduce(send, recv, o->count, type, ncclSum, nccl, stream);
}

/* Inputs that are copied differ between ranks, as the sums of a single one do. */
static bool values(struct payload_words *p, const struct nccl_operation *o, int rank, int ranks,
                   uint64_t operations)
{
    bool chained = o->in_place && o->collective == COLLECTIVE_ALLREDUCE;
    return payload_words_make(p, o->type, rank, o->collective == COLLECTIVE_ALLGATHER ? 1 : ranks,
                              chained, operations);
}

static uint64_t salt_of(const struct nccl_operation *o, int rank, uint64_t salt)
{
    return o->collective == COLLECTIVE_ALLGATHER ? salt + (uint64_t)rank * RANK_SALT : salt;
}

cudaError_t nccl_operation_fill(struct gpu *g, const struct nccl_operation *o, char *in,
                                uint64_t salt)
{
    const struct wl_host *h = g->host;
    struct payload_words p;
    struct collective_range range =
        collective_input(o->collective, h->rank, h->ranks, o->count, o->in_place);
    values(&p, o, h->rank, h->ranks, 1);
    return gpu_fill(in + range.first * p.element_B, range.n, p.element_B, gpu_words(p.input),
                    salt_of(o, h->rank, salt), g->stream);
}

bool nccl_operation_check(struct gpu *g, const struct nccl_operation *o, const char *out,
                          uint64_t salt, uint64_t operations, struct gpu_mismatch *record,
                          cudaError_t *error)
{
    const struct wl_host *h = g->host;
    struct collective_range mine =
        collective_output(o->collective, h->rank, h->ranks, o->count, o->in_place);
    bool gathers = o->collective == COLLECTIVE_ALLGATHER;
    size_t n = gathers ? mine.n / (size_t)h->ranks : mine.n;
    uint64_t first =
        o->collective == COLLECTIVE_REDUCESCATTER ? (uint64_t)h->rank * mine.n : 0; /* of the sum */
    struct payload_words p;
    *error = cudaSuccess;
    /* Only the sum of an all-reduce is known after repeating in place. */
    if (operations > 1 && o->in_place && o->collective == COLLECTIVE_REDUCESCATTER)
        return false;
    for (int i = 0; i < (gathers ? h->ranks : 1) && !*error; i++) {
        int source = gathers ? i : h->rank;
        if (!values(&p, o, source, h->ranks, operations))
            return false;
        size_t at = mine.first + (size_t)i * n;
        *error = gpu_check(out + at * p.element_B, n, p.element_B,
                           gpu_words(gathers ? p.input : p.expected),
                           salt_of(o, source, salt) + first, record, g->stream);
    }
    return true;
}

enum wl_status nccl_operation_try(struct comms *c, struct comm *comm,
                                  const struct nccl_operation *o, char *in, char *out,
                                  cudaEvent_t done)
{
    const struct wl_host *host = c->gpu->host;
    char why[256] = "";
    comm_log_begin(c);
    ncclResult_t e = nccl_operation_queue(c, comm, o, in, out);
    struct comm_ran ran = comm_log_end(c);
    enum wl_status status = comm_judge(c, comm, e, nccl_operation_name(o), why, sizeof why);
    CHECK(host_agree(host, status, why));
    CHECK(comm_finish(c, comm, done));
    return comm_prove(c, comm, &ran);
}
