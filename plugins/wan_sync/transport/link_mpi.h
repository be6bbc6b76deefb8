/* SPDX-License-Identifier: Apache-2.0
 *
 * The transport mpi: MPI point to point. And the round trips over a link of any transport.
 */
#pragma once

#include "wan_sync/transport/link.h"

#include <mpi.h>
#include <stdbool.h>

/* Uses a duplicate of `comm`. All calls of the link except abort() come from this thread. -1: failed;
 * why[n] says why. */
int link_mpi_open(struct link **link, MPI_Comm comm, char *why, size_t n);

/* ---- round trips over a link of any transport, with nothing else under way on it ---- */

#define LINK_RANKS_MOST 8 /* with more ranks no round trips are measured */

/* Fills rtt_s[ranks][ranks] with the shortest of a few round trips of each pair; same on every
 * rank. Collective. */
bool link_measure_rtt(struct link *link, MPI_Comm comm, double *rtt_s);
/* Both ranks of a pair call it: n round trips one after another. */
bool link_measure_pings(struct link *link, MPI_Comm comm, int peer, double *rtt_s, size_t n);
