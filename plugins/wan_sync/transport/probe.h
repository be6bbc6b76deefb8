/* SPDX-License-Identifier: Apache-2.0
 *
 * What a link is like, measured over the link itself by all ranks together. Nothing else may be
 * under way on it.
 */
#ifndef PROBE_H
#define PROBE_H

#include "wan_sync/transport/link.h"

#include <mpi.h>
#include <stdbool.h>

#define PROBE_RANKS_MOST 8 /* whose round trips are measured: a round a rank, all pairs */

/* rtt_s[ranks][ranks], the same on every rank: the shortest of a few round trips between two. */
bool probe_rtt(struct wan_link *link, MPI_Comm comm, double *rtt_s);
/* rate_Bps[ranks], the same on every rank: what each can send, or receive if
 * that is less, while all send to all. */
bool probe_rate(struct wan_link *link, MPI_Comm comm, double *rate_Bps);

/* The shortest round over n <= PROBE_RANKS_MOST of `of` (ranks), given rtt_s[ranks][ranks]: `of` is
 * put in its order, its first staying first. */
void probe_ring(const double *rtt_s, int ranks, int *of, int n);

#endif
