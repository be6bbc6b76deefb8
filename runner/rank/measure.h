/* SPDX-License-Identifier: Apache-2.0
 *
 * One attempt at one launch, on one rank: measures every group that the launch still lacks.
 */
#ifndef GS_MEASURE_H
#define GS_MEASURE_H

#include "rank/beat.h"

struct measure {
    const char *dir; /* the run folder, the same for every rank */
    int launch, attempt, local_rank;
    struct beat *beat;
};

/* Returns the exit code of the process. beat->status says how it ended: complete, interrupted,
 * hang (the plugin had to be aborted) or failed, when another rank has the reason. beat->error is
 * this rank's own reason, if it has one. */
int measure(const struct measure *m);

#endif
