/* SPDX-License-Identifier: Apache-2.0
 *
 * The transport mpi: MPI point to point. All calls come from the thread that opened it, but
 * abort().
 */
#ifndef TRANSPORTS_H
#define TRANSPORTS_H

#include "wan_sync/transport/link.h"

#include <mpi.h>

/* Over a communicator of its own, made from `comm`. -1: failed, why[] of n bytes says how. */
int link_mpi_open(struct wan_link **link, MPI_Comm comm, char *why, size_t n);

#endif
