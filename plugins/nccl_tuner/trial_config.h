/* SPDX-License-Identifier: Apache-2.0
 *
 * What a trial is to do, from the file that GRADSYNC_TRIAL names: lines "key = value", '#' begins a
 * comment line. Every rank reads the same file.
 *   out = FOLDER     where the ranks write and agree; on a file system that all of them see
 *   arm = auto       what is compared, a line each, the baseline first (choice_parse)
 *   seed = 1         of the order of the arms
 *   steps = 0        steps a visit; 0: as many as take visit_s seconds
 *   visit_s = 2
 *   warmup = 20      steps before the first visit
 *   blocks = 0       the trial ends after so many; 0: no limit
 *   minutes = 0      or at the end of the block in which so many minutes are over; 0: no limit
 *   calls = 0        collectives a step; 0: found from their sequence
 *   ranks = 0        only communicators of so many ranks; 0: those of the whole job where its
 *                    launcher says how many it has, else all
 */
#ifndef GS_TUNER_TRIAL_CONFIG_H
#define GS_TUNER_TRIAL_CONFIG_H

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
    uint64_t seed, steps, visit_s, warmup, blocks, minutes, calls, ranks;
};

/* False: `why` is "FILE:LINE: what is wrong". */
bool trial_config_read(struct trial_config *c, const char *path, char *why, size_t n);

#endif
