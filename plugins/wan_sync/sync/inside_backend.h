/* SPDX-License-Identifier: Apache-2.0
 *
 * The seam between wan_sync.so and wan_sync/cuda.so, which sums inside a site on its GPUs and is
 * loaded when a cell first says inside=nccl.
 *
 * A rank's gradient is in its GPU's memory, and beside it is a page-locked buffer of the same size
 * on the host. `inward` leaves the site's sum in the leader's (the site's rank 0), from where it
 * goes between sites, and `outward` takes it from there to every GPU of the site.
 */
#ifndef WAN_SYNC_INSIDE_BACKEND_H
#define WAN_SYNC_INSIDE_BACKEND_H

#include "workload.h"

#include <stddef.h>

#define INSIDE_BACKEND_SYMBOL "wan_inside_v1"

enum inside_state { INSIDE_FAILED = -1, INSIDE_BUSY, INSIDE_DONE };

/* Why a call fails is told to the site's host->fail(). */
struct inside_backend {
    size_t size; /* sizeof(struct inside_backend) */
    /* site: a host whose ranks are those of the site. Collective in it, as are the others but
     * poll, fill and fetch. *state is NULL after a failure. */
    enum wl_status (*open)(void **state, const struct wl_host *site);
    void (*close)(void *state);
    /* Room for so many floats on both sides, of which *host is the state's until the next call. */
    enum wl_status (*reserve)(void *state, size_t count, float **host);
    /* The first `count` to the GPU, and back. */
    enum wl_status (*fill)(void *state, size_t count);
    enum wl_status (*fetch)(void *state, size_t count);
    /* Begin, for elements [first, first + n); one at a time. */
    enum wl_status (*inward)(void *state, size_t first, size_t n);
    enum wl_status (*outward)(void *state, size_t first, size_t n);
    enum inside_state (*poll)(void *state);
    void (*abort)(void *state); /* from another thread */
};

#endif
