/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cuda_collective.h"

/* Inputs that are copied differ between ranks: each begins elsewhere in the pattern. */
#define RANK_SALT 7919u

typedef ncclResult_t all_to_all(const void *, void *, size_t, ncclDataType_t, ncclComm_t,
                                cudaStream_t);

/* One call of NCCL. */
struct call {
    struct comms *comms;
    ncclComm_t nccl;
    cudaStream_t stream;
    const char *send;
    char *recv;
    size_t count, element_B;
    ncclDataType_t type;
    ncclRedOp_t op;
    int rank, ranks;
};

static ncclResult_t call_allreduce(const struct call *c)
{
    return ncclAllReduce(c->send, c->recv, c->count, c->type, c->op, c->nccl, c->stream);
}

static ncclResult_t call_allgather(const struct call *c)
{
    size_t block = c->count / (size_t)c->ranks;
    return ncclAllGather(c->send, c->recv, block, c->type, c->nccl, c->stream);
}

static ncclResult_t call_reducescatter(const struct call *c)
{
    size_t block = c->count / (size_t)c->ranks;
    return ncclReduceScatter(c->send, c->recv, block, c->type, c->op, c->nccl, c->stream);
}

static ncclResult_t call_broadcast(const struct call *c)
{
    return ncclBroadcast(c->send, c->recv, c->count, c->type, COLLECTIVE_ROOT, c->nccl, c->stream);
}

static ncclResult_t call_reduce(const struct call *c)
{
    return ncclReduce(c->send, c->recv, c->count, c->type, c->op, COLLECTIVE_ROOT, c->nccl,
                      c->stream);
}

/* The group is closed even if a call in it fails. */
static ncclResult_t end_group(ncclResult_t e)
{
    ncclResult_t ended = ncclGroupEnd();
    return e == ncclSuccess ? ended : e;
}

static ncclResult_t exchange(const struct call *c, int to, const char *send, int from, char *recv,
                             size_t count)
{
    ncclResult_t e = ncclSend(send, count, c->type, to, c->nccl, c->stream);
    return e == ncclSuccess ? ncclRecv(recv, count, c->type, from, c->nccl, c->stream) : e;
}

/* NCCL 2.28 has an all-to-all; before, it is a group of sends and receives. */
static ncclResult_t call_alltoall(const struct call *c)
{
    size_t block = c->count / (size_t)c->ranks, block_B = block * c->element_B;
    all_to_all *own = COMM_FUNCTION(all_to_all, comm_symbol(c->comms, "ncclAlltoAll"));
    if (own)
        return own(c->send, c->recv, block, c->type, c->nccl, c->stream);
    ncclResult_t e = ncclGroupStart();
    if (e != ncclSuccess)
        return e;
    for (size_t r = 0; r < (size_t)c->ranks && e == ncclSuccess; r++)
        e = exchange(c, (int)r, c->send + r * block_B, (int)r, c->recv + r * block_B, block);
    return end_group(e);
}

static ncclResult_t call_sendrecv(const struct call *c)
{
    int next = (c->rank + 1) % c->ranks, previous = (c->rank + c->ranks - 1) % c->ranks;
    ncclResult_t e = ncclGroupStart();
    if (e != ncclSuccess)
        return e;
    return end_group(exchange(c, next, c->send, previous, c->recv, c->count));
}

static const struct {
    const char *name;
    ncclResult_t (*call)(const struct call *c);
} functions[COLLECTIVES] = {
    [COLLECTIVE_ALLREDUCE] = {"ncclAllReduce", call_allreduce},
    [COLLECTIVE_ALLGATHER] = {"ncclAllGather", call_allgather},
    [COLLECTIVE_REDUCESCATTER] = {"ncclReduceScatter", call_reducescatter},
    [COLLECTIVE_ALLTOALL] = {"all-to-all of NCCL", call_alltoall},
    [COLLECTIVE_BROADCAST] = {"ncclBroadcast", call_broadcast},
    [COLLECTIVE_REDUCE] = {"ncclReduce", call_reduce},
    [COLLECTIVE_SENDRECV] = {"ncclSend and ncclRecv", call_sendrecv},
};

const char *nccl_operation_name(const struct nccl_operation *o)
{
    return functions[o->collective].name;
}

ncclResult_t nccl_operation_queue(struct comms *c, struct comm *comm,
                                  const struct nccl_operation *o, char *in, char *out)
{
    static const ncclRedOp_t ops[] = {[PAYLOAD_SUM] = ncclSum,
                                      [PAYLOAD_PROD] = ncclProd,
                                      [PAYLOAD_MAX] = ncclMax,
                                      [PAYLOAD_MIN] = ncclMin,
                                      [PAYLOAD_AVG] = ncclAvg};
    const struct wl_host *h = c->gpu->host;
    const struct payload_dtype *d = &payload_dtypes[o->type];
    size_t send = collective_input(o->collective, h->rank, h->ranks, o->count, o->in_place).first;
    size_t recv = collective_output(o->collective, h->rank, h->ranks, o->count, o->in_place).first;
    struct call call = {.comms = c,
                        .nccl = atomic_load(&comm->nccl),
                        .stream = c->gpu->stream,
                        .send = in + send * d->size_B,
                        .recv = out + recv * d->size_B,
                        .count = o->count,
                        .element_B = d->size_B,
                        .type = (ncclDataType_t)d->nccl,
                        .op = ops[o->op],
                        .rank = h->rank,
                        .ranks = h->ranks};
    return functions[o->collective].call(&call);
}

/* The values of max differ between ranks, which is what a collective that copies needs. */
static bool values(struct payload_words *p, const struct nccl_operation *o, int rank, int ranks,
                   uint64_t operations)
{
    bool chained = o->in_place && o->collective == COLLECTIVE_ALLREDUCE;
    return payload_words_make(p, o->type, collective_reduces(o->collective) ? o->op : PAYLOAD_MAX,
                              rank, ranks, chained, operations);
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

/* Only an all-reduce and the largest or smallest are known after repeating in place. */
static bool repeats(const struct nccl_operation *o)
{
    return !o->in_place || !collective_reduces(o->collective) ||
           o->collective == COLLECTIVE_ALLREDUCE || o->op == PAYLOAD_MAX || o->op == PAYLOAD_MIN;
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
    if (operations > 1 && !repeats(o))
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
