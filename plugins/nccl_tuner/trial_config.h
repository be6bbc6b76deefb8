/* SPDX-License-Identifier: Apache-2.0
 *
 * The config of a trial, from the file named by GRADSYNC_TRIAL: lines "key = value"; '#' begins a
 * comment line. Every rank reads the same file.
 *   out = FOLDER     folder for logs and agreements, on a file system that all ranks see
 *   arm = auto       a setting to compare, one for each line, the baseline first (choice_parse)
 *   seed = 1         seed of the order of the arms
 *   steps = 0        steps per visit; 0: as many as take visit_s seconds
 *   visit_s = 2      seconds per visit, if steps is 0
 *   warmup = 20      steps before the first visit
 *   blocks = 0       number of blocks; 0: no limit
 *   seconds = 0      time limit; the trial ends with the block in which it is reached; 0: no limit
 *   calls = 0        collectives per step; 0: find them from their sequence
 *   ranks = 0        use only communicators with this many ranks; 0: those of the whole job, or all
 *                    if the launcher does not give its number of ranks
 */
#pragma once

#include "nccl_tuner/choice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAL_ARMS 16
#define TRIAL_STEPS 256 /* a visit at most */
#define TRIAL_LABEL 64

struct trial_arm {
    char label[TRIAL_LABEL];
    struct choice choice;
};

struct trial_config {
    char out[3072];
    struct trial_arm arms[TRIAL_ARMS];
    size_t n_arms;
    uint64_t seed, steps, visit_s, warmup, blocks, seconds, calls, ranks;
};

/* False: `why` says what is wrong, and where: "FILE:LINE: ..." */
bool trial_config_read(struct trial_config *c, const char *path, char *why, size_t n);
