/* SPDX-License-Identifier: Apache-2.0
 *
 * A site whose ranks sum on their GPUs (inside=nccl): the caller of inside_backend.h. One per
 * process, opened by the first cell with inside=nccl.
 */
#pragma once

#include "common/beside.h"
#include "wan_sync/sync/inside_backend.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

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
