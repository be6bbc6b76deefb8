/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a user's own training job with the tuner plugin of a trial (plugins/nccl_tuner), and records the
 * result. The job keeps the terminal, its signals and its exit code. A price (plugins/price) makes the
 * results of the job worthless, so it is taken in a launch without a terminal (price.h).
 */
#pragma once

#include "base/cli.h"

#include <stdbool.h>

struct trial_options {
    const char *arms, *platform, *out;
    struct cli_int launches, steps, visit_s, warmup, blocks, calls, ranks, seed;
    long seconds;            /* time limit of the visits; 0: none */
    bool keep_best;          /* continue with the fastest arm, if one was shown to be faster */
    struct cli_int deadline; /* of a price: seconds without a step, after which the job hangs */
};

/* The exit code of the command, or 128 plus the signal that ended it. If that is 0: GS_OK, or the
 * error of the trial, reported. */
int trial_job(const struct trial_options *o, char **command);
