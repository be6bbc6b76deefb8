/* SPDX-License-Identifier: Apache-2.0
 *
 * H steps of a training and the synchronisations between them, in steady state.
 *
 * Fragment p of P is posted after step (p + 1) H/P of every H, and is due `cell_steps_beside` steps
 * later: then the training waits for it and makes its outer step. Fragments that are under way when
 * the timed H steps begin were posted in untimed steps before. Fragments that are under way when
 * they end are completed afterwards, untimed. So the timed part is one period of the steady state.
 *
 * A fragment's input is written again each time it is posted. That time counts as computation: it
 * stands for the accumulation of the gradient in a training.
 */
#pragma once

#include "wan_sync/sync/pattern.h"
#include "wan_sync/sync/sync.h"

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
