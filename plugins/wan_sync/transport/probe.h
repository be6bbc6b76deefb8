/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures round trips and rates over a link, by all ranks together. Nothing else may be under way
 * on the link.
 */
#pragma once

#include "wan_sync/transport/link.h"

#include <mpi.h>
#include <stdbool.h>

#define PROBE_RANKS_MOST 8 /* with more ranks no round trips are measured */

/* Fills rtt_s[ranks][ranks] with the shortest of a few round trips of each pair; same on every
 * rank. */
bool probe_rtt(struct wan_link *link, MPI_Comm comm, double *rtt_s);
/* Both ranks of a pair call it: n round trips one after another. */
bool probe_pings(struct wan_link *link, MPI_Comm comm, int peer, double *rtt_s, size_t n);
/* Fills rate_Bps[ranks], same on every rank: the lower of the rates at which each rank sends and
 * receives while all send to all. */
bool probe_rate(struct wan_link *link, MPI_Comm comm, double *rate_Bps);
