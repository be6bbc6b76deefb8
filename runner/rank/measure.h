/* SPDX-License-Identifier: Apache-2.0
 *
 * One attempt at a launch, on one rank: measures every missing group of the launch.
 */
#pragma once

#include "rank/beat.h"

struct measure {
    const char *dir; /* the run folder, the same for every rank */
    int launch, attempt, local_rank;
    struct beat *beat;
};

/* Returns the exit code of the process. beat->status is complete, interrupted, hang (the plugin was
 * aborted), or failed (another rank has the reason). beat->error is this rank's own error, if any. */
int measure(const struct measure *m);
