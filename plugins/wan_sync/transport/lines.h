/* SPDX-License-Identifier: Apache-2.0
 *
 * The links of one process. The first cell with certain options opens a link, all cells with the
 * same options share it, and it is reopened after a failure. Each link keeps what was measured over
 * it.
 */
#pragma once

#include "wan_sync/cell.h"
#include "wan_sync/strategy.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct line {
    struct line *next;
    struct cell options; /* the cell that it was opened for */
    bool inside;         /* connects only the ranks of a site */
    MPI_Comm over;       /* private communicator: all ranks, or those of a site */
    struct wan_link *link;
    struct engine *engine;
    bool broken;
    struct wan_link_stats told; /* counts that are already recorded */
    double *rtt_s;              /* [ranks][ranks], on every rank; NULL: not measured yet */
    double *rate_Bps;           /* by rank; NULL: not measured yet */
    double *pair_Bps;           /* [from * ranks + to], 0: unknown; NULL: not gathered yet */
};

struct lines {
    const struct wl_host *host;
    MPI_Comm comm;        /* every rank */
    pthread_mutex_t lock; /* abort() comes from another thread */
    struct line *first;
    int meeting, met; /* buffers of an agreement, which may never complete */
    bool lost;        /* a rank missed an agreement, so no other is possible */
    atomic_bool aborted;
    char why[256];
};

void lines_open(struct lines *l, const struct wl_host *host, MPI_Comm comm);
void lines_close(struct lines *l);
/* Collective, as are the others. NULL: see lines.why. */
struct line *lines_take(struct lines *l, const struct cell *c);
/* A link inside each site, always over MPI. */
struct line *lines_take_inside(struct lines *l, const struct cell *c, MPI_Comm inside);
/* Reopens the link if it failed on any rank. Waits for the other ranks at most the cell's
 * timeout. */
bool lines_mend(struct lines *l, struct line *line);
/* Measured once per line: round trips between all ranks, up to PROBE_RANKS_MOST (probe.h), and the
 * rate of each rank while all send and receive; and the rates of pairs, by the estimates that a link
 * begins with. False: see lines.why. */
bool lines_measure_rtt(struct lines *l, struct line *line);
bool lines_measure_pairs(struct lines *l, struct line *line);
bool lines_measure_rate(struct lines *l, struct line *line);
void lines_abort(struct lines *l);
