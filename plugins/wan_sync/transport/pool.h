/* SPDX-License-Identifier: Apache-2.0
 *
 * The links of one process. The first cell with certain options opens a link, all cells with the
 * same options share it, and it is reopened after a failure.
 */
#pragma once

#include "wan_sync/cell.h"
#include "wan_sync/strategy.h"

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>

struct pool_link {
    struct pool_link *next;
    struct cell options; /* the cell that it was opened for */
    struct link *link;
    struct strategy_engine *engine;
    bool broken, probed;
};

struct pool {
    const struct wl_host *host;
    MPI_Comm comm;        /* every rank */
    pthread_mutex_t lock; /* abort() comes from another thread */
    struct pool_link *first;
    char why[256];
};

/* All are collective, except close, fail and abort. */
void pool_open(struct pool *p, const struct wl_host *host, MPI_Comm comm);
void pool_close(struct pool *p);
/* The link for a cell. NULL: see pool.why. */
struct pool_link *pool_take(struct pool *p, const struct cell *c);
/* Reopens the link if it failed on any rank. */
bool pool_mend(struct pool *p, struct pool_link *k);
/* Closes a link that failed on this rank; pool_take() and pool_mend() reopen it. */
void pool_fail(struct pool *p, struct pool_link *k);
void pool_abort(struct pool *p);

/* Probes the rates, once after a link was opened: from each member to the next, or to all. False: see
 * pool.why. */
bool pool_probe(struct pool *p, struct pool_link *k, const int *rank_of, int members, bool to_all);
/* The rates that were probed, [from * ranks + to]; 0: not known. */
bool pool_rates(struct pool *p, const struct pool_link *k, double *rate);
