/* SPDX-License-Identifier: Apache-2.0
 *
 * The synchronisations of one cell. Fragments of the buffer are summed over all ranks one at a
 * time, in the order of posting, while the caller polls. With strategy=hierarchical a fragment is
 * summed inside each site, exchanged between the leaders, and broadcast inside each site.
 */
#pragma once

#include "wan_sync/cell.h"
#include "wan_sync/strategy/engine.h"
#include "wan_sync/sync/inside_gpu.h"
#include "wan_sync/sync/sites.h"

/* The ranks of this rank's site, the leader first. They sum over a link or on their GPUs. If both
 * are NULL, they do not sum inside the site. */
struct sync_inside {
    struct inside_gpu *gpu;
    struct wan_link *link;
    struct engine *engine;
    int me, members;
    const int *peer;    /* by member: its number on the link */
    const int *rank_of; /* by member: the rank */
};

struct sync_parts {
    const struct cell *cell;
    MPI_Comm comm; /* every rank; private to this plugin */
    const struct sites *sites;
    struct wan_link *link; /* NULL: strategy=mpi */
    struct engine *engine;
    float *data, *residual; /* residual: NULL without feedback */
    int members;            /* of the exchange */
    const int *rank_of;     /* by member */
    const double *share;    /* by member; NULL: equal */
    int rank;
    struct sync_inside inside;
};

struct sync_totals {
    uint64_t runs, busy_ns; /* fragments; total time from begin to sum */
    uint64_t sent_B;        /* payload between members; 0: unknown with MPI */
};

struct sync;

/* NULL: no memory. Copies *parts; the caller keeps what it points to. */
struct sync *sync_open(const struct sync_parts *parts);
void sync_close(struct sync *s);

/* At most all fragments of the cell may be posted and not yet waited for. */
void sync_post(struct sync *s, int64_t fragment);
/* Makes progress for timeout_s. False: failed; sync_why() gives the reason. */
bool sync_poll(struct sync *s, double timeout_s);
/* Waits for the sum of a fragment. False as above. */
bool sync_wait(struct sync *s, int64_t fragment);
/* Waits until the link has released the buffer and the peers have received everything. */
bool sync_drain(struct sync *s);
const char *sync_why(const struct sync *s);
/* Returns the totals and resets them. */
struct sync_totals sync_totals(struct sync *s);
