/* SPDX-License-Identifier: Apache-2.0
 *
 * Sites: which rank is at which, and the GPUs on which the ranks of this site sum.
 *
 * The synchronisations of one cell. Fragments of the buffer are summed over all ranks one at a
 * time, in the order of posting, while the caller polls. With strategy=hierarchical a fragment is
 * summed inside each site, exchanged between the leaders, and broadcast inside each site.
 *
 * And the steps of a training with the synchronisations between them (sync_train).
 */
#pragma once

#include "common/host.h"
#include "common/payload.h"
#include "wan_sync/cell.h"
#include "wan_sync/cuda/inside_cuda.h"
#include "wan_sync/strategy.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

#define SYNC_HOST_MAX 64

struct sync_sites {
    int n;                       /* sites */
    int *site_of;                /* by rank */
    int *leader;                 /* by site: its lowest rank */
    int *in_order;               /* every rank, site by site */
    int ranks, largest;          /* ranks of the largest site */
    char (*host)[SYNC_HOST_MAX]; /* by rank: its host name */
    MPI_Comm inside;             /* the ranks of this rank's site, the leader first */
};

/* site_ranks: number of consecutive ranks per site; 0: the ranks of a node are a site. Collective.
 * False: no memory, or MPI failed. Call sync_sites_close() in both cases. */
bool sync_sites_open(struct sync_sites *s, const struct wl_host *host, MPI_Comm comm,
                     int site_ranks);
void sync_sites_close(struct sync_sites *s);

/* ---- the GPUs of this rank's site ---- */

/* A site whose ranks sum on their GPUs (inside=nccl), by wan_sync/cuda.so (cuda/inside_cuda.h). One per
 * process, opened by the first cell with inside=nccl. */
struct sync_gpu {
    struct host_backend so;
    const struct inside_backend *ops; /* of it */
    MPI_Comm comm;                    /* private communicator of the site */
    struct wl_host site;
    const struct wl_host *host; /* of all ranks */
    _Atomic(void *) state;      /* NULL: not open; abort() comes from another thread */
    float *data;                /* the page-locked buffer */
    char why[256];              /* of the last failure on this rank */
};

/* inside: the ranks of this rank's site, the leader first. Collective in it. WL_SKIP, with why[]: this
 * machine lacks something. */
enum wl_status sync_gpu_open(struct sync_gpu *g, const struct wl_host *host, MPI_Comm inside);
void sync_gpu_close(struct sync_gpu *g);
void sync_gpu_abort(struct sync_gpu *g);
/* After a failure: does the GPU take no more calls of this process? */
bool sync_gpu_lost(const struct sync_gpu *g);

/* ---- synchronisations ---- */

struct sync_parts {
    const struct cell *cell;
    MPI_Comm comm; /* every rank; private to this plugin */
    const struct sync_sites *sites;
    struct link *link; /* NULL: strategy=mpi */
    struct strategy_engine *engine;
    float *data;
    int members;   /* of the exchange */
    int *rank_of;  /* by member */
    double *share; /* by member; NULL: equal */
    int rank;
    bool inside;          /* the ranks of a site sum before and after the exchange */
    struct sync_gpu *gpu; /* on their GPUs; NULL: over MPI */
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
/* After a failure: is a message inside the site still under way? MPI cannot cancel it, so this process
 * can measure no more. */
bool sync_is_lost(const struct sync *s);
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

/* Seconds of H steps. */
struct sync_times {
    double all_s, compute_s;
    uint64_t start_ns, end_ns;
};

/* Runs the H steps; the buffer must hold the input, elements `shift` and on of the pattern. False: see
 * sync_why(). */
bool sync_train(struct sync *s, const struct payload_floats *pattern, size_t shift,
                struct sync_times *out);
