/* SPDX-License-Identifier: Apache-2.0
 *
 * The links of one process. The first cell with certain options opens a link, all cells with the
 * same options share it, and it is reopened after a failure. Each link keeps what was measured over
 * it. They also tell the runner when the network to another host is cut (lines_watch_open).
 */
#pragma once

#include "wan_sync/cell.h"
#include "wan_sync/strategy.h"

#include <mpi.h>
#include <pthread.h>
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
    char why[256];
};

void lines_open(struct lines *l, const struct wl_host *host, MPI_Comm comm);
void lines_close(struct lines *l);
/* Collective, as are the others. NULL: see lines.why. */
struct line *lines_take(struct lines *l, const struct cell *c);
/* A link inside each site, always over MPI. */
struct line *lines_take_inside(struct lines *l, const struct cell *c, MPI_Comm inside);
/* Reopens the link if it failed on any rank. */
bool lines_mend(struct lines *l, struct line *line);
/* Measured once per line: round trips between all ranks, up to LINK_RANKS_MOST, and the
 * rate of each rank while all send and receive; and the rates of pairs, by the estimates that a link
 * begins with. False: see lines.why. */
bool lines_measure_rtt(struct lines *l, struct line *line);
bool lines_measure_pairs(struct lines *l, struct line *line);
bool lines_measure_rate(struct lines *l, struct line *line);
void lines_abort(struct lines *l);

/* ---- a cut network ---- */

/* For each TCP connection, the kernel knows when the kernel at the other end last answered; keepalive
 * probes an idle connection every second. A thread reads these times of all connections of this process,
 * MPI's included. So it works for every strategy and transport, between two sums, and while MPI blocks.
 * A slow or stopped program is not silent, because its kernel answers. A host is lost, and the runner is
 * told, when all connections to it are silent. */
struct silence;

/* Collective. NULL: no memory, no thread, or no other host. */
struct silence *silence_open(const struct wl_host *host, MPI_Comm comm);
/* From now on a host is lost after this long, two seconds at least; 0: never. */
void silence_allow(struct silence *s, double timeout_s);
void silence_close(struct silence *s);
