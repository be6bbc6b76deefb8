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

/* A verdict needs this many blocks: with fewer, all have the same sign by chance in more than 5% of
 * cases. The time of a visit is not normal: a job that waits for its GPUs only now and then makes
 * some visits a few per cent shorter than others. */
#define TRIAL_BLOCKS_MIN 6

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

/* Why there is no visit at all. `given`: the number of calls of a step, 0: unknown. The caller frees it. */
char *trial_result_why(const struct trial_ranks *r, long given);

/* NCCL reported a captured collective. */
#define PRICE_CAPTURED                                                                             \
    "the job captured its collectives in a CUDA graph; nothing could be switched; take the price " \
    "with gradsync tune"
