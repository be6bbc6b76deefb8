/* SPDX-License-Identifier: Apache-2.0 */
#include "start.h"

/* Long enough for a broadcast on one node. A rank that hears of the instant too late starts at
 * once, and its delay shows as skew in the recording. */
#define LEAD_NS 20000

int start_together(MPI_Comm comm, int nodes)
{
    int rc = MPI_Barrier(comm);
    if (rc != MPI_SUCCESS || nodes > 1)
        return rc;
    uint64_t at = now_ns() + LEAD_NS;
    rc = MPI_Bcast(&at, 1, MPI_UINT64_T, 0, comm);
    while (now_ns() < at)
        continue;
    return rc;
}
