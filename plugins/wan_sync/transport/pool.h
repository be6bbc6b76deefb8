/* SPDX-License-Identifier: Apache-2.0
 *
 * The links of one process. The first cell with certain options opens a link, all cells with the
 * same options share it, and it is reopened after a failure. Each link keeps what was measured over
 * it. They also tell the runner when the network to another host is cut (pool_silence_open).
 */
#pragma once

#include "wan_sync/cell.h"
#include "wan_sync/strategy.h"

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>

/* The quantities that can be read from a link. Its rates are estimates from when it was opened. 0: unknown. */
enum pool_quantity {
    POOL_RTT_S,    /* [from * ranks + to] */
    POOL_UP_BPS,   /* of uplinks, by rank */
    POOL_PAIR_BPS, /* [from * ranks + to] */
    POOL_QUANTITIES
};
#define POOL_RTT_RANKS 8 /* with more ranks no round trips are measured */

struct pool_link {
    struct pool_link *next;
    struct cell options; /* the cell that it was opened for */
    bool inside;         /* connects only the ranks of a site */
    MPI_Comm over;       /* private communicator: all ranks, or those of a site */
    struct link *link;
    struct strategy_engine *engine;
    bool broken;
    struct link_stats told;            /* counts that are already recorded */
    double *measured[POOL_QUANTITIES]; /* the same on every rank; NULL: not measured yet */
};

struct pool {
    const struct wl_host *host;
    MPI_Comm comm;        /* every rank */
    pthread_mutex_t lock; /* abort() comes from another thread */
    struct pool_link *first;
    char why[256];
};

void pool_open(struct pool *p, const struct wl_host *host, MPI_Comm comm);
void pool_close(struct pool *p);
/* The link for a cell; with `inside`, the communicator of a site, one that connects the ranks of the
 * site over MPI. Collective, as are the others. NULL: see pool.why. */
struct pool_link *pool_take(struct pool *p, const struct cell *c, MPI_Comm inside);
/* Reopens the link if it failed on any rank. */
bool pool_mend(struct pool *p, struct pool_link *k);
/* Closes a link that failed on this rank; pool_take() and pool_mend() reopen it. Not collective. */
void pool_fail(struct pool *p, struct pool_link *k);
/* Measures this once per link; round trips of up to POOL_RTT_RANKS ranks. False: see pool.why. */
bool pool_measure(struct pool *p, struct pool_link *k, enum pool_quantity what);
void pool_abort(struct pool *p);

/* n round trips to a peer one after another, with nothing else under way on the link. Both ranks of the
 * pair call it. */
bool pool_pings(struct link *link, int rank, int peer, double *rtt_s, size_t n);

/* ---- a cut network ---- */

/* For each TCP connection, the kernel knows when the kernel at the other end last answered; keepalive
 * probes an idle connection every second. A thread reads these times of all connections of this process,
 * MPI's included. So it works for every strategy and transport, between two sums, and while MPI blocks.
 * A slow or stopped program is not silent, because its kernel answers. A host is lost, and the runner is
 * told, when all connections to it are silent. */
struct pool_silence;

/* Collective. NULL: no memory, no thread, or no other host. */
struct pool_silence *pool_silence_open(const struct wl_host *host, MPI_Comm comm);
/* From now on a host is lost after this long, two seconds at least; 0: never. */
void pool_silence_allow(struct pool_silence *s, double timeout_s);
void pool_silence_close(struct pool_silence *s);
