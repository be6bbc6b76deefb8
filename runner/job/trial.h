/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/cli.h"
#include "base/text.h"

#include <stdbool.h>

/* ==== trial_arms ====
 *
 * The arms of a trial, as --arms names them. */

/* Adds the baseline, NCCL's own choice, and then the arms of a list. GS_OK, or reported. */
int trial_arms_read(struct words *arms, const char *list);
/* Are they those of a price: none, one, half? */
bool trial_arms_price(const struct words *arms);

/* ==== trial_environment ====
 *
 * The variables by which NCCL finds its plugins, and plugins that it would load without them. */

/* GS_OK, or GS_USAGE, reported: the job already has a tuner, which the trial would replace.
 * NCCL_TUNER_PLUGIN=none says that this is wanted. */
int trial_environment_check(void);
/* For the command. A profiler that the user has is left in place: then nothing reports what NCCL
 * ran. */
void trial_environment_set(const char *plugin, const char *config);
/* The same for the object of a price; a tuner that the job has is left in place. In the process of the
 * command alone. */
void trial_environment_preload(const char *object, const char *config);

/* ==== trial_job ====
 *
 * Runs a user's own training job with the tuner plugin of a trial (plugins/nccl_tuner), and records
 * the result. The job keeps the terminal, its signals and its exit code. */

struct price_answer;

struct trial_options {
    const char *arms, *platform, *out;
    struct cli_int launches, steps, visit_s, warmup, blocks, calls, ranks, seed;
    long seconds;   /* time limit of the visits; 0: none */
    bool keep_best; /* continue with the fastest arm, if one was shown to be faster */
    /* Of a price (trial_price.h): */
    struct cli_int deadline;     /* seconds without a step, after which the job hangs */
    const char *log;             /* file for the output of the command; NULL: that of gradsync */
    struct price_answer *answer; /* NULL: nobody asks */
};

/* The exit code of the command, or 128 plus the signal that ended it. If that is 0: GS_OK, or the
 * error of the trial, reported. */
int trial_job(const struct trial_options *o, char **command);
/* Runs the command once with the arms none, one and half, and ends it when the answer is known, or
 * after o->seconds of visits; o->arms, launches and keep_best are not used. Errors are not printed: they
 * are in a->why. What the command prints goes to o->log. GS_OK; or why there is no answer: GS_USAGE or
 * GS_CANNOT; GS_FAILED; or the exit code of a command that failed before. GS_OK with !a->known: too few
 * blocks. */
int price_measure(const struct trial_options *o, char **command, struct price_answer *a);
