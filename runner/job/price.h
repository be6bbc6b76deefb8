/* SPDX-License-Identifier: Apache-2.0
 *
 * What communication costs a job, and what an arm gains, from blocks of visits inside running jobs. In some visits every
 * large collective is left out (none), or has one element (one), or half of its elements (half). A job whose collectives
 * are in a CUDA graph has its price by whole launches instead.
 */
#pragma once

#include "compare/contrast.h"
#include "job/journal.h"

#include <stdbool.h>

/* A verdict needs so many blocks: with fewer, all have the same sign by chance in more than 5% of cases. */
#define BLOCKS_MIN 6

/* ---- an arm against auto, in logarithms of the step ---- */

/* The median over the blocks of a launch that have both (launches: how many), against the mean of both visits of auto,
 * and the interval of its order statistics. */
#define ANY_LAUNCH (-1)
struct effect arm_effect(const struct visits *all, int launch, const char *arm);
/* The mean over the blocks of all launches of arm a against arm b, and Student's t; b NULL: against auto. */
struct effect arm_difference(const struct visits *all, const char *a, const char *b);
/* The mean over launches of arm_effect, and Student's t. */
struct effect arm_over_launches(const struct visits *all, const char *arm);
/* The same over launches that each measured one arm. They are few, and few do not tell how much a launch differs from the
 * next. So the spread of a difference of two launches is pooled over all arms, and two more degrees of freedom have one of
 * 1.4%. A wrong guess costs time, not truth: the proof measures anew. */
struct effect launch_difference(const struct visits *all, const char *a, const char *b);
double launches_spread(const struct visits *all, double *df);

/* ---- the price ---- */

/* Why a step has no price. */
#define PRICE_NOTHING                                                                              \
    "no collective of the step has 64 KiB or more; smaller ones are never left out"

/* A share of the step, and its 95% interval. The step becomes shorter by this share; a negative one:
 * longer. */
struct price_share {
    double value, lo, hi;
};

struct price_answer {
    bool known;
    char why[512];                 /* !known: the reason, one line */
    double step_s;                 /* of the slowest rank, as the job is */
    struct price_share none, half; /* of the slowest rank */
    /* What one element still costs the rank that waits longest, against no communication at all; NaN:
     * unknown. */
    struct price_share waiting;
    int blocks;   /* of the first launch */
    int launches; /* that are compared; 0: blocks of one launch */
    double noise; /* half the width of the interval of none: a smaller cost cannot be seen */
};

/* False: the arms are not those of a price. With several launches, `none` is the mean over them, and the interval
 * is Student's t; the rest is of the first one. */
bool price_from(struct price_answer *a, const struct visits *all);
/* Is the interval of a launch narrow enough to end the job? */
bool price_enough(const struct price_answer *a);
#define PRICE_OF_ONE "The interval is that of one launch; another launch can differ by more."
/* What `tune` and `compare` print of it; the caller frees. */
char *price_sentence(const struct price_answer *a);
/* "steps vary, so ..."; NULL: they do not. The caller frees. */
char *price_noise(const struct price_answer *a);

/* The price in a recording, as it is printed; a->known is false if the recording has none. GS_OK or
 * reported. */
int price_read(struct price_answer *a, const char *dir);
