/* SPDX-License-Identifier: Apache-2.0
 *
 * Words for an error of MPI, and what ranks agree on.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>

/* Returns text, which gets MPI's words for the error. */
static inline const char *mpi_error(int rc, char text[MPI_MAX_ERROR_STRING])
{
    int n = 0;
    text[0] = 0;
    MPI_Error_string(rc, text, &n);
    return text;
}

/* Is it so on every rank? The same on all; false also if MPI fails. Collective. */
static inline bool mpi_all(MPI_Comm comm, bool good)
{
    int mine = good, all = 0;
    return MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}
