/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface between wan_sync.so and wan_sync/cuda.so, which sums inside a site on its GPUs. It
 * is loaded for the first cell with inside=nccl.
 *
 * A rank's gradient is in its GPU's memory, and beside it is a page-locked buffer of the same size
 * on the host. `inward` leaves the site's sum in the leader's (the site's rank 0), from where it
 * goes between sites, and `outward` takes it from there to every GPU of the site.
 */
#pragma once

#include "workload.h"

#include <stddef.h>

#define INSIDE_BACKEND_SYMBOL "wan_inside_v1"

enum inside_state { INSIDE_FAILED = -1, INSIDE_BUSY, INSIDE_DONE };

/* A failing call gives its reason to the site's host->fail(). */
struct inside_backend {
    size_t size; /* sizeof(struct inside_backend) */
    /* site: a host whose ranks are those of the site. Collective in it, as are the others but
     * poll, fill and fetch. *state is NULL after a failure. */
    enum wl_status (*open)(void **state, const struct wl_host *site);
    void (*close)(void *state);
    /* Reserves memory for `count` floats on GPU and host. *host belongs to the state and is valid
     * until the next call. */
    enum wl_status (*reserve)(void *state, size_t count, float **host);
    /* Copy the first `count` floats to the GPU, and back. */
    enum wl_status (*fill)(void *state, size_t count);
    enum wl_status (*fetch)(void *state, size_t count);
    /* Begin the operation for elements [first, first + n); only one may be under way. */
    enum wl_status (*inward)(void *state, size_t first, size_t n);
    enum wl_status (*outward)(void *state, size_t first, size_t n);
    enum inside_state (*poll)(void *state);
    void (*abort)(void *state); /* from another thread */
    bool (*lost)(void *state);  /* gpu_lost() */
};
