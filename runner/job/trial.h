/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a user's own training job with the tuner plugin of a trial (plugins/nccl_tuner), or with the
 * object of a price (plugins/price), and records the result. The job keeps the terminal, its signals
 * and its exit code. A price makes the results of the job worthless, so the job is ended as soon as
 * the price is known.
 */
#pragma once

#include "base/cli.h"
#include "job/trial_result.h"

#include <stdbool.h>

struct trial_options {
    const char *arms, *platform, *out;
    struct cli_int launches, steps, visit_s, warmup, blocks, calls, ranks, seed;
    long seconds;   /* time limit of the visits; 0: none */
    bool keep_best; /* continue with the fastest arm, if one was shown to be faster */
    /* Of a price: */
    struct cli_int deadline;     /* seconds without a step, after which the job hangs */
    const char *log;             /* file for the output of the command; NULL: that of gradsync */
    struct price_answer *answer; /* NULL: nobody asks */
    char **run;                  /* with answer: the recording */
};

/* The exit code of the command, or 128 plus the signal that ended it. If that is 0: GS_OK, or the
 * error of the trial, reported. */
int trial_job(const struct trial_options *o, char **command);
/* The price, from one launch of at most o->seconds of visits; o->arms and launches are not used.
 * Errors are not printed: they are in a->why. What the command prints goes to o->log. *run: the
 * recording, NULL: none; the caller frees. GS_OK; or why there is no answer: GS_USAGE or GS_CANNOT;
 * GS_FAILED; or the exit code of a command that failed before. GS_OK with !a->known: too few blocks. */
int trial_price(const struct trial_options *o, char **command, struct price_answer *a, char **run);
