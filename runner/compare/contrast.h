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
 */
#pragma once

#include "base/stats.h"

#include <stddef.h>

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
    double p_tested; /* what Holm's test adjusts (judgement.h); 0: not tested yet */
    int launches;    /* of the smaller side */
    size_t blocks;   /* of both */
};

/* Arrays are sorted by launch. */
struct effect effect_paired(const struct nested *x, size_t n, size_t draws, struct rng *rng);
/* b against a; standard error and degrees of freedom are Welch's. */
struct effect effect_unpaired(const struct nested *a, size_t n_a, const struct nested *b,
                              size_t n_b, size_t draws, struct rng *rng);

/* The interval that holds for n effects together with the same probability (Bonferroni): that of the
 * effect, widened to the quantiles of Student's t at 1 - level / n. Never inside the effect's own. */
struct interval effect_simultaneous(const struct effect *e, size_t n);

/* For the simulation: the uncorrected interval, or Hesterberg's. Paired. */
struct interval contrast_percentile(const struct nested *x, size_t n, size_t draws, bool expanded,
                                    struct rng *rng);
