/* SPDX-License-Identifier: Apache-2.0
 *
 * The config of a trial, from the file named by GRADSYNC_TRIAL: lines "key = value"; '#' begins a
 * comment line. Every rank reads the same file.
 *   out = FOLDER     folder for logs and agreements, on a file system that all ranks see
 *   arm = auto       a setting to compare, one for each line, the baseline first (choice_parse)
 *   seed = 1         seed of the order of the arms
 *   steps = 0        steps per visit; 0: as many as take visit_ms
 *   visit_ms = 2000  milliseconds per visit, if steps is 0
 *   warmup = 20      steps before the first visit
 *   blocks = 0       number of blocks; 0: no limit
 *   seconds = 0      time limit; the trial ends with the block in which it is reached; 0: no limit
 *   calls = 0        collectives per step; 0: find them from their sequence
 *   bytes_least = 0  bytes per step, of what is found; a period with fewer is a part of a step
 *   bytes_most = 0   a period with more is several steps; 0: any number
 *   ranks = 0        use only communicators with this many ranks; 0: those of the whole job, or all
 *                    if the launcher does not give its number of ranks
 */
#pragma once

#include "common/choice.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
    uint64_t seed, steps, visit_ms, warmup, blocks, seconds, calls, ranks;
    uint64_t bytes_least, bytes_most;
};

/* False: `why` says what is wrong, and where: "FILE:LINE: ..." */
bool trial_config_read(struct trial_config *c, const char *path, char *why, size_t n);

enum seq_event {
    SEQ_AWAY,   /* no step is known, or the call is outside of it */
    SEQ_FOUND,  /* as SEQ_AWAY; a new step is followed from the next call on */
    SEQ_LOST,   /* as SEQ_AWAY; the call before was in a step */
    SEQ_STEP,   /* the first call of a step */
    SEQ_INSIDE, /* another call of a step */
};

struct sequence {
    size_t told;                      /* calls per step, from the user; 0: to be found */
    uint64_t bytes_least, bytes_most; /* of a step to be found; most 0: any number */
    uint64_t *past;                   /* the latest words, oldest first */
    size_t n, cap;                    /* of past */
    uint64_t *pattern;                /* the words of a step */
    uint32_t *back;                   /* its failure table (Knuth, Morris and Pratt) */
    size_t period;                    /* words of the pattern; 0: none yet */
    size_t at; /* following: the next word; else the words of the pattern just seen */
    bool following;
    uint64_t away;   /* calls since the step was left, or since the beginning */
    uint64_t look;   /* search for a period when `away` reaches this */
    uint64_t held;   /* longest run of calls for which the pattern held */
    uint64_t run;    /* calls since it was found or came back */
    unsigned breaks; /* since it was found */
};

void seq_begin(struct sequence *s, size_t told);
void seq_end(struct sequence *s);
enum seq_event seq_call(struct sequence *s, int func, size_t bytes);
