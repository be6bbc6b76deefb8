/* SPDX-License-Identifier: Apache-2.0 */

#include "common/mpi_calls.h"

#include <string.h>

/* One tag is enough: MPI keeps the order of messages between two ranks of a communicator. */
#define TAG 1

/* Returns MPI's code of the call unless it went well. */
#define PASS(call)                                                                                 \
    do {                                                                                           \
        const int pass_rc = (call);                                                                \
        if (pass_rc != MPI_SUCCESS)                                                                \
            return pass_rc;                                                                        \
    } while (0)

/* Elements [first, first + n) of the vector. */
struct part {
    size_t first, n;
};

static void *at(const struct mpi_call *c, size_t element)
{
    return (char *)c->recv + element * c->element_B;
}

static const void *sent(const struct mpi_call *c, size_t element)
{
    return (const char *)c->send + element * c->element_B;
}

static int combine(const struct mpi_call *c, const void *in, void *inout, size_t n)
{
    return MPI_Reduce_local(in, inout, (int)n, c->type, c->op);
}

static int send_to(const struct mpi_call *c, int peer, const void *buf, size_t n)
{
    return MPI_Send(buf, (int)n, c->type, peer, TAG, c->comm);
}

static int receive(const struct mpi_call *c, int peer, void *buf, size_t n)
{
    return MPI_Recv(buf, (int)n, c->type, peer, TAG, c->comm, MPI_STATUS_IGNORE);
}

static int exchange(const struct mpi_call *c, int to, const void *out, size_t n_out, int from,
                    void *in, size_t n_in)
{
    return MPI_Sendrecv(out, (int)n_out, c->type, to, TAG, in, (int)n_in, c->type, from, TAG,
                        c->comm, MPI_STATUS_IGNORE);
}

/* ---- the library's own ---- */

static int run_auto(const struct mpi_call *c)
{
    return MPI_Allreduce(c->send == c->recv ? MPI_IN_PLACE : c->send, c->recv, c->count, c->type,
                         c->op, c->comm);
}

/* ---- ring: reduce-scatter, then all-gather, each of n-1 steps between neighbours ---- */

static struct part chunk(const struct mpi_call *c, int i)
{
    size_t n = (size_t)c->ranks, k = (size_t)((i % c->ranks + c->ranks) % c->ranks);
    size_t first = (size_t)c->count * k / n;
    return (struct part){first, (size_t)c->count * (k + 1) / n - first};
}

/* The partial sum of a chunk arrives and this rank's input is added to it. Out of place it arrives
 * where the result belongs; in place that is where the input lies, so it arrives in the scratch. */
static int ring_reduce_step(const struct mpi_call *c, int step)
{
    int next = (c->rank + 1) % c->ranks, previous = (c->rank + c->ranks - 1) % c->ranks;
    struct part out = chunk(c, c->rank - step), in = chunk(c, c->rank - step - 1);
    const void *from = step == 0 ? sent(c, out.first) : at(c, out.first);
    bool in_place = c->send == c->recv;
    void *to = in_place ? c->scratch : at(c, in.first);
    PASS(exchange(c, next, from, out.n, previous, to, in.n));
    return combine(c, in_place ? c->scratch : sent(c, in.first), at(c, in.first), in.n);
}

static int run_ring(const struct mpi_call *c)
{
    int next = (c->rank + 1) % c->ranks, previous = (c->rank + c->ranks - 1) % c->ranks;
    for (int s = 0; s < c->ranks - 1; s++)
        PASS(ring_reduce_step(c, s));
    for (int s = 0; s < c->ranks - 1; s++) {
        struct part out = chunk(c, c->rank + 1 - s), in = chunk(c, c->rank - s);
        PASS(exchange(c, next, at(c, out.first), out.n, previous, at(c, in.first), in.n));
    }
    return MPI_SUCCESS;
}

/* ---- tree: binomial reduction to rank 0, then the same tree downwards ---- */

static int run_tree(const struct mpi_call *c)
{
    size_t n = (size_t)c->count;
    int bit = 1;
    if (c->send != c->recv)
        memcpy(c->recv, c->send, n * c->element_B);
    for (; bit < c->ranks && !(c->rank & bit); bit <<= 1)
        if (c->rank + bit < c->ranks) {
            PASS(receive(c, c->rank + bit, c->scratch, n));
            PASS(combine(c, c->scratch, c->recv, n));
        }
    if (c->rank != 0) {
        PASS(send_to(c, c->rank - bit, c->recv, n));
        PASS(receive(c, c->rank - bit, c->recv, n));
    }
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (c->rank + bit < c->ranks)
            PASS(send_to(c, c->rank + bit, c->recv, n));
    return MPI_SUCCESS;
}

const struct mpi_operation mpi_allreduces[ALLREDUCE_KINDS] = {
    [ALLREDUCE_AUTO] = {"auto", run_auto},
    [ALLREDUCE_RING] = {"ring", run_ring},
    [ALLREDUCE_TREE] = {"tree", run_tree},
};

size_t mpi_scratch_B(enum allreduce_kind kind, size_t count, size_t element_B, int ranks,
                     bool in_place)
{
    if (kind == ALLREDUCE_AUTO)
        return 0;
    if (kind == ALLREDUCE_RING)
        return in_place ? (count / (size_t)ranks + 1) * element_B : 0;
    return count * element_B;
}
