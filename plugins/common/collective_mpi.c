/* SPDX-License-Identifier: Apache-2.0 */
#include "common/collective_mpi.h"

#define TAG 2

static int run_allreduce(const struct allreduce_call *c)
{
    return allreduces[ALLREDUCE_AUTO].run(c);
}

static int run_allgather(const struct allreduce_call *c)
{
    int block = c->count / c->ranks;
    return MPI_Allgather(c->send, block, c->type, c->recv, block, c->type, c->comm);
}

static int run_reducescatter(const struct allreduce_call *c)
{
    return MPI_Reduce_scatter_block(c->send, c->recv, c->count / c->ranks, c->type, c->op, c->comm);
}

static int run_alltoall(const struct allreduce_call *c)
{
    int block = c->count / c->ranks;
    return MPI_Alltoall(c->send, block, c->type, c->recv, block, c->type, c->comm);
}

static int run_broadcast(const struct allreduce_call *c)
{
    void *buffer = c->rank == COLLECTIVE_ROOT ? (void *)c->send : c->recv;
    return MPI_Bcast(buffer, c->count, c->type, COLLECTIVE_ROOT, c->comm);
}

static int run_reduce(const struct allreduce_call *c)
{
    return MPI_Reduce(c->send, c->recv, c->count, c->type, c->op, COLLECTIVE_ROOT, c->comm);
}

static int run_sendrecv(const struct allreduce_call *c)
{
    int next = (c->rank + 1) % c->ranks, previous = (c->rank + c->ranks - 1) % c->ranks;
    return MPI_Sendrecv(c->send, c->count, c->type, next, TAG, c->recv, c->count, c->type, previous,
                        TAG, c->comm, MPI_STATUS_IGNORE);
}

const struct allreduce collectives_mpi[COLLECTIVES] = {
    [COLLECTIVE_ALLREDUCE] = {"MPI_Allreduce", run_allreduce, NULL},
    [COLLECTIVE_ALLGATHER] = {"MPI_Allgather", run_allgather, NULL},
    [COLLECTIVE_REDUCESCATTER] = {"MPI_Reduce_scatter_block", run_reducescatter, NULL},
    [COLLECTIVE_ALLTOALL] = {"MPI_Alltoall", run_alltoall, NULL},
    [COLLECTIVE_BROADCAST] = {"MPI_Bcast", run_broadcast, NULL},
    [COLLECTIVE_REDUCE] = {"MPI_Reduce", run_reduce, NULL},
    [COLLECTIVE_SENDRECV] = {"MPI_Sendrecv", run_sendrecv, NULL},
};
