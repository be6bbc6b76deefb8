/* SPDX-License-Identifier: Apache-2.0
 *
 * The links of one process: opened when a cell first asks for one with its options, shared by all
 * cells that do, and opened anew after a failure. Beside each what was measured over it.
 */
#ifndef LINES_H
#define LINES_H

#include "wan_sync/cell.h"
#include "wan_sync/strategy/engine.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct line {
    struct line *next;
    struct cell options; /* the cell that it was opened for */
    bool inside;         /* among the ranks of a site: those are its peers */
    MPI_Comm over;       /* its own: every rank, or those of a site */
    struct wan_link *link;
    struct engine *engine;
    bool broken;
    struct wan_link_stats told; /* what a recording has of the link already */
    double *rtt_s;              /* [ranks][ranks], on every rank; NULL: not measured yet */
    double *rate_Bps;           /* by rank; NULL: not measured yet */
};

struct lines {
    const struct wl_host *host;
    MPI_Comm comm;        /* every rank */
    pthread_mutex_t lock; /* abort() comes from another thread */
    struct line *first;
    int meeting, met; /* of an agreement that may be under way for ever */
    bool lost;        /* a rank missed one: nothing can be agreed on any more */
    atomic_bool aborted;
    char why[256];
};

void lines_open(struct lines *l, const struct wl_host *host, MPI_Comm comm);
void lines_close(struct lines *l);
/* Collective, as are the others. NULL: lines.why. */
struct line *lines_take(struct lines *l, const struct cell *c);
/* Inside each site, by MPI, whatever carries blocks between them. */
struct line *lines_take_inside(struct lines *l, const struct cell *c, MPI_Comm inside);
/* Opens it anew if it failed on any rank. Waits for the others no longer than the cell's timeout.
 */
bool lines_mend(struct lines *l, struct line *line);
/* Once a line: round trips between all ranks (few enough: probe.h), and what each can send and
 * receive when all do. False: lines.why. */
bool lines_measure_rtt(struct lines *l, struct line *line);
bool lines_measure_rate(struct lines *l, struct line *line);
void lines_abort(struct lines *l);

#endif
