/* SPDX-License-Identifier: Apache-2.0
 *
 * How far apart two configs are, with its uncertainty. Pure functions of log-ratios (paired: one a
 * block, of config to baseline) or log-times (unpaired: those of two runs), by launch. All numbers
 * are natural logarithms; a ratio below 1 is a negative one and means faster.
 *
 * Effect: the mean of the launches' means. The launch is the unit: what differs between launches
 * (placement, clocks, neighbours) is the same in all blocks of one and cannot be averaged away by
 * more of them.
 *
 * Interval: a hierarchical bootstrap, launches drawn and blocks within each, corrected for what
 * few launches do to it:
 *  - the draws are scaled about the effect so that their standard deviation is the unbiased
 *    standard error of the launches' means: their first stage alone is sqrt((L-1)/L) of it, and the
 *    second adds the blocks' noise, which the launches' means hold already, once more (Rao and Wu
 *    1988, J. Am. Stat. Assoc. 83, 231; Davison and Hinkley 1997, section 3.8);
 *  - and widened by t(L-1)/z, as Hesterberg's expanded percentile interval is (2015, The American
 *    Statistician 69, 371). His way of doing so, by the level of the percentiles, asks five
 *    launches for their 0.1% quantile, which is about their lowest: 94% is the most it can cover.
 * tests/sim/ holds it, the plain percentile interval and the expanded one against known truths.
 *
 * p_interval: that of Student's test of the launches' means, 2 P(T > |value| / se), with a larger
 * se where the interval is wider than t(0.975) se on the side of 0: the one with which that side
 * just has this width. So p_interval < 0.05 only where the 95% interval excludes 0.
 *
 * p_permutation: another test, which assumes no distribution; two-sided. Paired: the signs of whole
 * launches are flipped, all 2^L ways (or CONTRAST_DRAWS of them when there are more). Flipping
 * block by block would give smaller values, and wrong ones: blocks of one launch share its effect,
 * so their signs are not exchangeable. So five launches cannot go below 2/32, and p_least says so.
 * Unpaired: launches are dealt anew to the two sides.
 */
#ifndef GS_CONTRAST_H
#define GS_CONTRAST_H

#include "base/stats.h"

#include <stddef.h>

#define CONTRAST_DRAWS 10000
#define CONTRAST_LEVEL 0.95
/* Longer launches enter the bootstrap as the means of so many runs of consecutive blocks. */
#define CONTRAST_BATCHES 32

struct effect {
    double value, lo, hi; /* NaN, as all that follows, with fewer than 2 launches on a side */
    double se, df;        /* of value */
    double p_interval;    /* of the interval */
    double p_permutation; /* of launches */
    double p_least;       /* the smallest that p_permutation could have been */
    int launches;         /* of the smaller side */
    size_t blocks;        /* of both */
};

/* Arrays are sorted by launch. */
struct effect effect_paired(const struct nested *x, size_t n, size_t draws, struct rng *rng);
/* Of `b` against `a`; standard error and degrees of freedom are Welch's. */
struct effect effect_unpaired(const struct nested *a, size_t n_a, const struct nested *b,
                              size_t n_b, size_t draws, struct rng *rng);

/* The uncorrected interval, and Hesterberg's: what the simulation compares with. Paired. */
struct interval contrast_percentile(const struct nested *x, size_t n, size_t draws, bool expanded,
                                    struct rng *rng);

/* Holm's step-down adjustment of a family's p, in place. NaN is no member. */
void contrast_holm(double *p, size_t n);

#endif
