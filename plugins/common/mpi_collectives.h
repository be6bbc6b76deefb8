/* SPDX-License-Identifier: Apache-2.0
 *
 * The collectives over MPI: its own, and all-reduce algorithms over MPI point to point, to compare with MPI_Allreduce.
 *
 * They are correct for any number of ranks and any count, also 0 and counts below the number of
 * ranks. Operations must be commutative. The local reductions are MPI_Reduce_local, which
 * MPI_Allreduce also uses, so two configs differ only in their algorithm.
 *
 * Costs with n ranks, m bytes, latency a and time b per byte, without the reductions (Thakur,
 * Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", 2005):
 *   ring                2(n-1) a + 2 m b (n-1)/n
 *   tree                2 ceil(log2 n) (a + m b)
 *   recursive_doubling  log2 n (a + m b)              + 2(a + m b) when n is no power of two
 *   rabenseifner        2 log2 n a + 2 m b (n-1)/n    + 2(a + m b) when n is no power of two
 */
#pragma once

#include "common/collective.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct allreduce_call {
    const void *send; /* equal to recv: in place */
    void *recv;
    int count;
    size_t element_B;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm; /* nothing else of the process uses it during the call */
    int rank, ranks;
    void *scratch; /* allreduce_scratch_B() bytes; not shared by calls that run at once */
};

struct allreduce {
    const char *name;
    /* Returns MPI_SUCCESS or the code of the MPI call that failed. */
    int (*run)(const struct allreduce_call *c);
    /* Bytes of scratch for `count` elements; NULL: none. */
    size_t (*scratch_B)(size_t count, size_t element_B, int ranks, bool in_place);
};

enum allreduce_kind {
    ALLREDUCE_AUTO, /* MPI_Allreduce: the library's choice */
    ALLREDUCE_RING,
    ALLREDUCE_TREE,
    ALLREDUCE_RECURSIVE_DOUBLING,
    ALLREDUCE_RABENSEIFNER,
    ALLREDUCE_KINDS
};
extern const struct allreduce allreduces[ALLREDUCE_KINDS];

size_t allreduce_scratch_B(enum allreduce_kind kind, size_t count, size_t element_B, int ranks,
                           bool in_place);

/* MPI's own collectives. The call's count is the larger buffer's (collective.h).
 *
 * MPI_Bcast has one buffer on each rank: the root's is `send`, and its `recv` is not written. */

extern const struct allreduce collectives_mpi[COLLECTIVES];
