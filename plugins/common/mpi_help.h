/* SPDX-License-Identifier: Apache-2.0
 *
 * A communicator of a plugin's own, words for an error of MPI, and what ranks agree on.
 */
#pragma once

#include "common/host.h"

#include <mpi.h>
#include <stdbool.h>
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

/* The same; where it is so here and not everywhere, why[] gets `other`. */
static inline bool mpi_all_or(MPI_Comm comm, bool good, const char *other, char *why, size_t size)
{
    bool all = mpi_all(comm, good);
    if (good && !all)
        snprintf(why, size, "%s", other);
    return all;
}
