/* SPDX-License-Identifier: Apache-2.0
 *
 * The transport mpi: MPI point to point. All calls except abort() come from the thread that opened
 * it.
 */
#pragma once

#include "wan_sync/transport/link.h"

#include <mpi.h>

/* Uses a duplicate of `comm`. -1: failed; why[n] says why. */
int link_mpi_open(struct wan_link **link, MPI_Comm comm, char *why, size_t n);
