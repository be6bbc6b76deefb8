/* SPDX-License-Identifier: Apache-2.0
 *
 * The profiler half of the plugin (NCCL_PROFILER_PLUGIN, the same file): tells the tuner half which
 * algorithm, protocol and channels NCCL really ran, and which calls went into a CUDA graph. It does
 * nothing unless GRADSYNC_TRIAL is set.
 */
#pragma once

#include <stdbool.h>

/* One communicator on one rank. */
struct observer {
    void *comm; /* NULL: the tuner half has no use for it, or has ended */
    /* pair: as choice_taken() numbers them; channels 0: NCCL does not report them. */
    void (*ran)(void *comm, int pair, int channels);
    void (*captured)(void *comm);
    bool ended; /* the profiler half has ended */
};

/* The observer of the communicator that this thread is creating; NULL: NCCL loaded no profiler. */
struct observer *observer_pending(void);
/* The tuner half no longer listens. */
void observer_leave(struct observer *o);
