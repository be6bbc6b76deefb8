/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rank is at which site, which ranks take part in an exchange between sites, and the GPUs on
 * which the ranks of this site sum.
 */
#pragma once

#include "common/beside.h"
#include "wan_sync/cuda/inside_cuda.h"
#include "workload.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

#define SITES_HOST_MAX 64

struct sites {
    int n;                        /* sites */
    int *site_of;                 /* by rank */
    int *leader;                  /* by site: its lowest rank */
    int *in_order;                /* every rank, site by site */
    int *place;                   /* 0, 1, 2 ...: the ranks of `inside` */
    int ranks, largest;           /* ranks of the largest site */
    char (*host)[SITES_HOST_MAX]; /* by rank: its host name */
    MPI_Comm inside;              /* the ranks of this rank's site, the leader first */
};

/* site_ranks: number of consecutive ranks per site; 0: the ranks of a node are a site. Collective.
 * False: no memory, or MPI failed. Call sites_close() in both cases. */
bool sites_open(struct sites *s, const struct wl_host *host, MPI_Comm comm, int site_ranks);
/* Lists the ranks of that rank's site, the leader first. Returns how many. */
const int *sites_inside(const struct sites *s, int rank, int *n);
void sites_close(struct sites *s);

/* ---- the GPUs of this rank's site ---- */

/* A site whose ranks sum on their GPUs (inside=nccl), by wan_sync/cuda.so (cuda/inside_cuda.h). One per
 * process, opened by the first cell with inside=nccl. */
struct inside_gpu {
    struct beside so;
    MPI_Comm comm; /* private communicator of the site */
    struct wl_host site;
    const struct wl_host *host; /* of all ranks */
    _Atomic(void *) state;      /* NULL: not open; abort() comes from another thread */
    float *data;                /* the page-locked buffer */
    char why[256];              /* of the last failure on this rank */
};

/* inside: the ranks of this rank's site, the leader first. This call and reserve are collective in
 * it. WL_SKIP, with why[]: this machine lacks something. */
enum wl_status inside_gpu_open(struct inside_gpu *g, const struct wl_host *host, MPI_Comm inside);
void inside_gpu_close(struct inside_gpu *g);
/* Reserves memory for `count` floats; data may move. */
enum wl_status inside_gpu_reserve(struct inside_gpu *g, size_t count);
/* Copy the first `count` floats of data to the GPU, and back. False: see why[]. */
bool inside_gpu_fill(struct inside_gpu *g, size_t count);
bool inside_gpu_fetch(struct inside_gpu *g, size_t count);
bool inside_gpu_inward(struct inside_gpu *g, size_t first, size_t n);
bool inside_gpu_outward(struct inside_gpu *g, size_t first, size_t n);
/* Waits for the operation, at most timeout_s. */
enum inside_state inside_gpu_poll(struct inside_gpu *g, double timeout_s);
void inside_gpu_abort(struct inside_gpu *g);
/* After a failure: does the GPU take no more calls of this process? */
bool inside_gpu_lost(const struct inside_gpu *g);
