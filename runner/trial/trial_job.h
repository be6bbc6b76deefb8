/* SPDX-License-Identifier: Apache-2.0
 *
 * A user's own training job, run with the tuner plugin of a trial in it (plugins/nccl_tuner), and
 * what its ranks wrote as a recording. The job keeps the terminal, its signals and its exit code.
 */
#ifndef GS_TRIAL_JOB_H
#define GS_TRIAL_JOB_H

#include <stdbool.h>

struct trial_options {
    const char *arms, *platform, *out;
    const char *proof_of; /* the run whose advice the trial tests; NULL: none */
    long launches, steps, visit_s, warmup, blocks, minutes, calls, ranks, seed;
    bool keep_best; /* the job goes on with the fastest arm, if one was shown to be faster */
};

/* The command's exit code (128 and the signal that ended it); when that is 0: GS_OK, or what is
 * wrong with the trial, reported. */
int trial_job(const struct trial_options *o, char **command);

#endif
