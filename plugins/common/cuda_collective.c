/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cuda_collective.h"

/* Inputs that are copied differ between ranks: each begins elsewhere in the pattern. */
#define RANK_SALT 7919u

typedef ncclResult_t all_to_all(const void *, void *, size_t, ncclDataType_t, ncclComm_t,
                                cudaStream_t);

const char *nccl_operation_name(const struct nccl_operation *o)
{
    static const char *const names[COLLECTIVES] = {
        [COLLECTIVE_ALLREDUCE] = "ncclAllReduce",
        [COLLECTIVE_ALLGATHER] = "ncclAllGather",
        [COLLECTIVE_REDUCESCATTER] = "ncclReduceScatter",
        [COLLECTIVE_ALLTOALL] = "all-to-all of NCCL",
        [COLLECTIVE_BROADCAST] = "ncclBroadcast",
        [COLLECTIVE_REDUCE] = "ncclReduce",
        [COLLECTIVE_SENDRECV] = "ncclSend and ncclRecv",
    };
    return names[o->collective];
}

/* NCCL 2.28 has an all-to-all; before, it is a group of sends and receives. */
ncclResult_t nccl_operation_queue(struct comms *c, struct comm *comm,
                                  const struct nccl_operation *o, char *in, char *out)
{
    const struct payload_dtype *d = &payload_dtypes[o->type];
    const int rank = c->gpu->host->rank, ranks = c->gpu->host->ranks;
    const char *send =
        in + collective_input(o->collective, rank, ranks, o->count, o->in_place).first * d->size_B;
    char *recv = out + collective_output(o->collective, rank, ranks, o->count, o->in_place).first *
                           d->size_B;
    const size_t count = o->count, block = count / (size_t)ranks;
    const ncclDataType_t type = (ncclDataType_t)d->nccl;
    const bool all = o->collective == COLLECTIVE_ALLTOALL;
    all_to_all *own = all ? COMM_FUNCTION(all_to_all, comm_symbol(c, "ncclAlltoAll")) : NULL;
    ncclComm_t nccl = atomic_load(&comm->nccl);
    cudaStream_t stream = c->gpu->stream;
    switch (o->collective) {
    case COLLECTIVE_ALLGATHER:
        return ncclAllGather(send, recv, block, type, nccl, stream);
    case COLLECTIVE_REDUCESCATTER:
        return ncclReduceScatter(send, recv, block, type, ncclSum, nccl, stream);
    case COLLECTIVE_BROADCAST:
        return ncclBroadcast(send, recv, count, type, COLLECTIVE_ROOT, nccl, stream);
    case COLLECTIVE_REDUCE:
        return ncclReduce(send, recv, count, type, ncclSum, COLLECTIVE_ROOT, nccl, stream);
    case COLLECTIVE_ALLTOALL:
    case COLLECTIVE_SENDRECV:
        break;
    default:
        return ncclAllReduce(send, recv, count, type, ncclSum, nccl, stream);
    }
    if (own)
        return own(send, recv, block, type, nccl, stream);
    ncclResult_t e = ncclGroupStart();
    if (e != ncclSuccess)
        return e;
    for (int i = 0; i < (all ? ranks : 1) && e == ncclSuccess; i++) {
        const size_t n = all ? block : count, at = (size_t)i * block * d->size_B;
        e = ncclSend(send + at, n, type, all ? i : (rank + 1) % ranks, nccl, stream);
        if (e == ncclSuccess)
            e = ncclRecv(recv + at, n, type, all ? i : (rank + ranks - 1) % ranks, nccl, stream);
    }
    ncclResult_t ended = ncclGroupEnd(); /* the group is closed even if a call in it fails */
    return e == ncclSuccess ? ended : e;
}

static bool values(struct payload_words *p, const struct nccl_operation *o, int rank, int ranks,
                   uint64_t operations)
{
    bool chained = o->in_place && o->collective == COLLECTIVE_ALLREDUCE;
    return payload_words_make(p, o->type, rank, collective_reduces(o->collective) ? ranks : 1,
                              chained, operations);
}

static uint64_t salt_of(const struct nccl_operation *o, int rank, uint64_t salt)
{
    return collective_reduces(o->collective) ? salt : salt + (uint64_t)rank * RANK_SALT;
}

cudaError_t nccl_operation_fill(struct gpu *g, const struct nccl_operation *o, char *in,
                                uint64_t salt)
{
    const struct wl_host *h = g->host;
    struct payload_words p;
    struct collective_range range =
        collective_input(o->collective, h->rank, h->ranks, o->count, o->in_place);
    if (o->in_place && o->collective == COLLECTIVE_BROADCAST && h->rank != COLLECTIVE_ROOT)
        return cudaSuccess; /* here `in` is the output */
    values(&p, o, h->rank, h->ranks, 1);
    return gpu_fill(in + range.first * p.element_B, range.n, p.element_B, gpu_words(p.input),
                    salt_of(o, h->rank, salt), g->stream);
}

bool nccl_operation_check(struct gpu *g, const struct nccl_operation *o, const char *out,
                          uint64_t salt, uint64_t operations, struct gpu_mismatch *record,
                          cudaError_t *error)
{
    const struct wl_host *h = g->host;
    size_t place = collective_output(o->collective, h->rank, h->ranks, o->count, o->in_place).first;
    int n = collective_parts(o->collective, h->rank, h->ranks);
    struct payload_words p;
    *error = cudaSuccess;
    /* Of sums only that of an all-reduce is known after repeating in place. */
    if (operations > 1 && o->in_place && collective_reduces(o->collective) &&
        o->collective != COLLECTIVE_ALLREDUCE)
        return false;
    for (int i = 0; i < n && !*error; i++) {
        struct collective_part part =
            collective_part(o->collective, h->rank, h->ranks, o->count, i);
        bool reduced = part.source == COLLECTIVE_REDUCED;
        int source = reduced ? h->rank : part.source;
        if (!values(&p, o, source, h->ranks, operations))
            return false;
        *error = gpu_check(out + (place + part.first) * p.element_B, part.n, p.element_B,
                           gpu_words(reduced ? p.expected : p.input),
                           salt_of(o, source, salt) + part.input_first, record, g->stream);
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
