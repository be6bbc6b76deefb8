/* SPDX-License-Identifier: Apache-2.0
 *
 * The difference between two configs, with its uncertainty. Pure functions of log-ratios (paired: one
 * for each block, config to baseline) or log-times (unpaired: of two runs), ordered by launch. All
 * numbers are natural logarithms; a negative one means faster.
 *
 * Effect: the mean of the means of the launches. The launch is the unit: the differences between
 * launches (placement, clocks, neighbours) affect all blocks of a launch, so more blocks do not
 * average them away.
 *
 * Interval: a hierarchical bootstrap, which draws launches, and blocks within each. Two corrections
 * allow for few launches:
 *  - The draws are scaled about the effect, so that their standard deviation is the unbiased standard
 *    error of the means of the launches. Unscaled, the first stage gives sqrt((L-1)/L) of it, and the
 *    second stage adds the noise of the blocks again, which these means already contain (Rao and Wu
 *    1988, J. Am. Stat. Assoc. 83, 231; Davison and Hinkley 1997, section 3.8).
 *  - The interval is widened by t(L-1)/z, like Hesterberg's expanded percentile interval (2015, The
 *    American Statistician 69, 371). His method changes the level of the percentiles. With five
 *    launches that needs the 0.1% quantile, which is about their minimum, and covers 94% at most.
 * tests/sim/ compares it, the plain percentile interval and the expanded one with known truths.
 *
 * p_interval: Student's test of the means of the launches, 2 P(T > |value| / se). If the interval is
 * wider than t(0.975) se on the side of 0, se is the larger value that gives this width. So
 * p_interval < 0.05 only if the 95% interval excludes 0.
 *
 * p_permutation: a two-sided test that assumes no distribution. Paired: it flips the signs of whole
 * launches, in all 2^L ways (or CONTRAST_DRAWS random ones if there are more). Flipping single blocks
 * would give smaller p, but wrong ones: the blocks of a launch share its effect, so their signs are
 * not exchangeable. So five launches give at least 2/32; p_least has this limit. Unpaired: it assigns
 * the launches to the two sides at random.
 *
 * From an effect to a verdict. With b = log(1 + equivalence) and the A/A floor f, in logarithms:
 *
 *   equivalent    the interval lies inside (-b, b): any difference is smaller than the user cares for
 *   faster        the interval lies below -f, the effect below -b, and the family's adjusted p is
 *                 below 0.05; slower: the same on the other side
 *   inconclusive  all else, and everything with one launch or without a floor
 * An equivalent effect is small, not absent, if it passes the other rules of a difference: its interval
 * lies beyond the A/A floor, and p_holm < JUDGEMENT_ALPHA. `small` has its direction.
 *
 *   same operation  set by verdicts.c, not here: the recording says that both configs ran the same
 *                   algorithm, protocol and number of CTAs, so the config causes no difference,
 *                   whatever the times are
 *
 * The floor is the distance between the two copies of the baseline in the same blocks, where nothing
 * differs. The interval already contains its random part: each launch creates the communicators anew
 * and in another order, so the difference between two communicators is drawn anew in each launch, and
 * the interval comes from the variance between launches, with launches - 1 degrees of freedom. Older
 * recordings, whose cell lines have no "prepared" (record.h), had one communicator for both copies and
 * the same order in every launch; there neither floor nor interval contains the effect of the order.
 *
 * A difference must pass Holm's test over its family at 5%. The test uses p_interval; or the larger
 * of p_interval and p_permutation, if p_permutation can reach 5% at all (p_least times the size of the
 * family). With five launches p_permutation is at least 0.0625. So p_holm is never below p_interval,
 * and below 0.05 only if the interval excludes 0.
 */
#pragma once

#include "base/stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTRAST_DRAWS 10000
#define CONTRAST_LEVEL 0.95
/* A longer launch enters the bootstrap as the means of this many runs of consecutive blocks. */
#define CONTRAST_BATCHES 32

struct effect {
    double value, lo, hi; /* NaN, like the next members, with fewer than 2 launches on a side */
    double se, df;        /* of value */
    double p_interval;
    double p_permutation;
    double p_least;  /* the smallest possible p_permutation */
    double p_tested; /* what Holm's test adjusts; 0: not tested yet */
    int launches;    /* of the smaller side */
    size_t blocks;   /* of both */
};

/* Arrays are sorted by launch. */
struct effect effect_paired(const struct nested *x, size_t n, size_t draws, struct rng *rng);
/* b against a; standard error and degrees of freedom are Welch's. */
struct effect effect_unpaired(const struct nested *a, size_t n_a, const struct nested *b,
                              size_t n_b, size_t draws, struct rng *rng);

/* For the simulation: the uncorrected interval, or Hesterberg's. Paired. */
struct interval contrast_percentile(const struct nested *x, size_t n, size_t draws, bool expanded,
                                    struct rng *rng);

#define JUDGEMENT_ALPHA 0.05
#define JUDGEMENT_MOST_LAUNCHES 1000

enum verdict {
    VERDICT_FASTER,
    VERDICT_SLOWER,
    VERDICT_EQUIVALENT,
    VERDICT_INCONCLUSIVE,
    VERDICT_SAME,
    VERDICTS
};
extern const char *const verdict_names[VERDICTS];
/* Is it faster or slower? */
bool verdict_is_difference(enum verdict v);

struct judgement {
    enum verdict verdict;
    int64_t needed; /* further launches for a verdict with 80% power and the same spread; 0: it has
                         one; -1: none would do, or more than JUDGEMENT_MOST_LAUNCHES */
    int small;      /* equivalent, beyond the floor and p_holm < 0.05: -1 shorter, 1 longer */
    char reason[256]; /* of inconclusive, same operation and small; else "" */
};

/* "0.5 to 0.9%", of gains or losses in ascending order. Returns buf. */
const char *judgement_span(char *buf, size_t n, double low, double high);

/* equivalence: relative, > 0. floor: a logarithm >= 0; NaN: none, so no verdict. */
struct judgement judge_effect(const struct effect *e, double equivalence, double floor,
                              double p_holm);

/* The p of a member of a family of n for Holm's test. */
double judgement_p(const struct effect *e, size_t n);
/* Does that use p_permutation? */
bool judgement_permutes(const struct effect *e, size_t n);

/* Holm's step-down adjustment of a family's p, in place. Skips NaN. */
void contrast_holm(double *p, size_t n);
