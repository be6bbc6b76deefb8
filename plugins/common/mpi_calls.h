/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI in plugins: a communicator of a plugin's own, words for an error, what ranks agree on, and the
 * all-reduce: MPI's own, and algorithms over MPI point to point.
 */
#pragma once

#include "common/host.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A duplicate whose calls return their errors. Collective. Returns MPI's code. */
static inline int mpi_dup(MPI_Comm comm, MPI_Comm *own)
{
    int rc = MPI_Comm_dup(comm, own);
    return rc == MPI_SUCCESS ? MPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN) : rc;
}

/* Did the call of MPI go well? If not, why[] says in MPI's words what failed. */
static inline bool mpi_good(int rc, const char *what, char *why, size_t size)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    if (rc == MPI_SUCCESS)
        return true;
    MPI_Error_string(rc, text, &n);
    snprintf(why, size, "%s: %.180s", what, text);
    return false;
}

static inline enum wl_status mpi_try(const struct wl_host *host, int rc, const char *what)
{
    char why[256];
    return mpi_good(rc, what, why, sizeof why) ? WL_OK : HOST_FAILED(host, "%s", why);
}

/* Is it so on every rank? The same on all; false also if MPI fails. Collective. */
static inline bool mpi_all(MPI_Comm comm, bool good)
{
    int mine = good, all = 0;
    return MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}

/* ---- all-reduce ---- */

/* The algorithms of an all-reduce are there to compare with MPI_Allreduce.
 *
 * They are correct for any number of ranks and any count, also 0 and counts below the number of
 * ranks. Operations must be commutative. The local reductions are MPI_Reduce_local, which
 * MPI_Allreduce also uses, so two configs differ only in their algorithm.
 *
 * Costs with n ranks, m bytes, latency a and time b per byte, without the reductions (Thakur,
 * Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", 2005):
 *   ring  2(n-1) a + 2 m b (n-1)/n
 *   tree  2 ceil(log2 n) (a + m b)
 */

struct mpi_call {
    const void *send; /* equal to recv: in place */
    void *recv;
    int count;
    size_t element_B;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm; /* nothing else of the process uses it during the call */
    int rank, ranks;
    void *scratch; /* mpi_scratch_B() bytes; not shared by calls that run at once */
};

struct mpi_operation {
    const char *name;
    /* Returns MPI_SUCCESS or the code of the MPI call that failed. */
    int (*run)(const struct mpi_call *c);
};

enum allreduce_kind {
    ALLREDUCE_AUTO, /* MPI_Allreduce: the library's choice */
    ALLREDUCE_RING,
    ALLREDUCE_TREE,
    ALLREDUCE_KINDS
};
extern const struct mpi_operation mpi_allreduces[ALLREDUCE_KINDS];

size_t mpi_scratch_B(enum allreduce_kind kind, size_t count, size_t element_B, int ranks,
                     bool in_place);
