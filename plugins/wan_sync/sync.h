/* SPDX-License-Identifier: Apache-2.0
 *
 * The synchronisations of one cell. Fragments of the buffer are summed over all ranks one at a
 * time, in the order of posting, while the caller polls. With strategy=hierarchical a fragment is
 * summed inside each site, exchanged between the leaders, and broadcast inside each site.
 *
 * And the steps of a training with the synchronisations between them (train_run).
 */
#pragma once

#include "wan_sync/cell.h"
#include "wan_sync/pattern.h"
#include "wan_sync/sites.h"
#include "wan_sync/strategy.h"

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

const char *sync_why(const struct sync *s);
/* Returns the totals and resets them. */
struct sync_totals sync_totals(struct sync *s);

/* ---- the steps of a training ---- */

/* H steps of a training and the synchronisations between them, in steady state.
 *
 * Fragment p of P is posted after step (p + 1) H/P of every H, and is due `cell_steps_beside` steps
 * later: then the training waits for it and makes its outer step. Fragments that are under way when
 * the timed H steps begin were posted in untimed steps before. Fragments that are under way when
 * they end are completed afterwards, untimed. So the timed part is one period of the steady state.
 *
 * A fragment's input is written again each time it is posted. That time counts as computation, as a
 * training accumulates its gradient there. */
struct train {
    const struct cell *cell;
    struct sync *sync;
    const struct pattern *pattern;
    size_t shift; /* element of the pattern that is the gradient's first */
    float *data;
    int ranks;
};

/* Seconds of H steps. */
struct train_times {
    double all_s, compute_s;
    uint64_t start_ns, end_ns;
};

/* Runs the H steps; the buffer must hold the input. False: see sync_why(). */
bool train_run(const struct train *t, struct train_times *out);
