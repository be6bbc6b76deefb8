/* SPDX-License-Identifier: Apache-2.0
 *
 * Synchronisations of one cell: fragments of the buffer that are summed over all ranks in the order
 * in which they are posted, one at a time, while the caller polls. With hierarchical sites a
 * fragment is first summed inside each, exchanged between the leaders, and spread inside again.
 */
#ifndef SYNC_H
#define SYNC_H

#include "wan_sync/cell.h"
#include "wan_sync/strategy/engine.h"
#include "wan_sync/sync/inside_gpu.h"
#include "wan_sync/sync/sites.h"

/* The ranks of this rank's site, the leader first. They sum over a link, or on their GPUs, or (both
 * NULL) do nothing first. */
struct sync_inside {
    struct inside_gpu *gpu;
    struct wan_link *link;
    struct engine *engine;
    int me, members;
    const int *peer;    /* by member: the link's name for it */
    const int *rank_of; /* by member: the rank */
};

struct sync_parts {
    const struct cell *cell;
    MPI_Comm comm; /* every rank; of this plugin alone */
    const struct sites *sites;
    struct wan_link *link; /* NULL: strategy=mpi */
    struct engine *engine;
    float *data;
    int members;         /* of the exchange */
    const int *rank_of;  /* by member */
    const double *share; /* by member; NULL: equal */
    int rank;
    struct sync_inside inside;
};

struct sync_totals {
    uint64_t runs, busy_ns; /* fragments, and the time from the begin to the sum of each */
    uint64_t sent_B;        /* payload between members; 0 where MPI does not say */
};

struct sync;

/* NULL: no memory. *parts is copied, what it points to is the caller's. */
struct sync *sync_open(const struct sync_parts *parts);
void sync_close(struct sync *s);

/* At most as many as there are fragments may be posted and not waited for. */
void sync_post(struct sync *s, int64_t fragment);
/* Goes on for timeout_s. False: failed; sync_why() says how. */
bool sync_poll(struct sync *s, double timeout_s);
/* Until the sum of that fragment is there. False as above. */
bool sync_wait(struct sync *s, int64_t fragment);
/* Until the link is done with the buffer as well, and the others have all that was sent. */
bool sync_drain(struct sync *s);
const char *sync_why(const struct sync *s);
/* Resets them. */
struct sync_totals sync_totals(struct sync *s);

#endif
