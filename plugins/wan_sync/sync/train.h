/* SPDX-License-Identifier: Apache-2.0
 *
 * H steps of a training and the synchronisations between them, in steady state.
 *
 * Fragment p of P is posted after step (p + 1) H/P of every H, and is due `cell_steps_beside` steps
 * later: then the training waits for it, and makes the outer step of it. What is under way when the
 * timed H steps begin was posted in untimed steps before them, and what is under way when they end
 * is waited for afterwards, so that the timed part has all of its own and nothing else.
 *
 * A fragment's input is written when it is posted again; the time that takes is computation, in
 * place of the accumulation of a gradient that a training does there.
 */
#ifndef TRAIN_H
#define TRAIN_H

#include "wan_sync/sync/compute.h"
#include "wan_sync/sync/pattern.h"
#include "wan_sync/sync/sync.h"

struct train {
    const struct cell *cell;
    struct sync *sync;
    struct compute *compute;
    const struct pattern *pattern;
    float *data;
    float *x, *m; /* of the outer step; NULL: none */
    int ranks;
};

/* Seconds of H steps. */
struct train_times {
    double all_s, compute_s, outer_s;
    uint64_t start_ns, end_ns;
};

/* The buffer holds the input. False: sync_why(). */
bool train_run(const struct train *t, struct train_times *out);

#endif
