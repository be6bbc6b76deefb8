/* SPDX-License-Identifier: Apache-2.0
 *
 * The result of one launch of a job under trial, in lines for its user. A block stands for a launch of
 * compare/: the interval and the verdict say what holds in this launch. Whether it holds in another
 * one is not in them, so `compare` gives a verdict over several launches only.
 */
#pragma once

#include "compare/contrast.h"
#include "job/trial_ranks.h"

#include <stdbool.h>
#include <stddef.h>

#define TRIAL_EQUIVALENCE 0.005
/* A verdict needs this many blocks: with fewer, all have the same sign by chance in more than 5% of
 * cases. The time of a visit is not normal: a job that waits for its GPUs only now and then makes
 * some visits a few per cent shorter than others. */
#define TRIAL_BLOCKS_MIN 6

struct trial_verdict {
    const char *arm; /* of the visits */
    int64_t copy;
    struct trial_taken taken;
    bool same_operation;  /* as auto, by NCCL's reports */
    struct effect effect; /* against auto, a log-ratio for each block */
    enum verdict verdict; /* inconclusive also for what does not count, and for too
                           * few blocks */
};

double trial_visit_step_s(const struct trial_visit *v);
/* The visit of an arm in a block; NULL: there is none. */
const struct trial_visit *trial_visit_of(const struct trial_comm *c, int64_t block, const char *arm,
                                         int64_t copy);
bool trial_has_arm(const struct trial_comm *c, const char *arm);
/* Of the step against auto, in logarithms, from the blocks that have both. With an arm `none` it is a
 * price: the median over blocks. */
struct effect trial_effect(const struct trial_comm *c, const char *arm, int64_t copy, size_t draws);
/* The median and the interval of its order statistics. */
struct effect trial_effect_median(const struct nested *x, size_t n);

/* The verdicts of each arm and of auto's second copy, without `auto` itself. draws: of the bootstrap.
 * Returns how many; the caller frees *v. */
size_t trial_verdicts(struct trial_verdict **v, const struct trial_comm *c, size_t draws);
/* True: each arm has a verdict, so the trial can end. It looks at TRIAL_BLOCKS_MIN blocks and each time
 * their number has doubled. *looked_at is 0 at first and belongs to this function. Because it looks
 * more than once, it demands more than trial_verdicts: p times the number of looks, and wider
 * intervals. */
bool trial_result_enough(const struct trial_comm *c, size_t *looked_at, size_t draws);
/* Prints a line for each arm, by say(). */
void trial_result_say(const struct trial_comm *c, int launch);
/* The arm with the shortest step among those that are faster than auto; NULL: none. */
const char *trial_result_best(const struct trial_comm *c);
/* Why there is no visit at all. `given`: of --calls, 0: none. price: the job ran with the object of a
 * price instead of the tuner. The caller frees it. */
char *trial_result_why(const struct trial_ranks *r, long given, bool price);

/* What a user reads as soon as NCCL reports a captured collective, and at the end. */
#define TRIAL_CAPTURED                                                                             \
    "the job captured its collectives in a CUDA graph; nothing could be switched; use gradsync "   \
    "train"
#define PRICE_CAPTURED                                                                             \
    "the job captured its collectives in a CUDA graph; nothing could be switched; take the price " \
    "with gradsync tune"
