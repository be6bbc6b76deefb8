/* SPDX-License-Identifier: Apache-2.0
 *
 * The statistics gradsync stands on: pure functions of arrays of doubles, no allocation that
 * outlives a call. Every array may be in any order; none is changed unless named `scratch`.
 */
#ifndef GS_STATS_H
#define GS_STATS_H

#include "common/rng.h"

#include <stdbool.h>
#include <stddef.h>

struct interval {
    double lo, hi;
    double coverage; /* the coverage really reached; order statistics are discrete */
};

/* Quantile p in [0, 1], linear interpolation between order statistics (Hyndman and Fan type 7).
 * NaN when n is 0. */
double stats_quantile(const double *x, size_t n, double p);
double stats_median(const double *x, size_t n);
double stats_mean(const double *x, size_t n);
/* The same quantile without a copy: reorders scratch. */
double stats_quantile_of(double *scratch, size_t n, double p);

/* Distribution-free CI of the median from order statistics: the narrowest symmetric pair
 * (x(k), x(n+1-k)) whose binomial(n, 1/2) coverage is >= level; (min, max) when none reaches it. */
struct interval stats_median_ci(const double *x, size_t n, double level);

/* How many leading values are still warm-up: the d that minimises MSER(d), the squared standard
 * error of the mean of x[d..] (White 1997), accepted only when the mean of the discarded part
 * differs from the rest's by more than 3 standard errors. 0 when n < 8, and when the d is more than
 * a fifth of the values: that is a change of level, not a start, and nobody knows which level is
 * the right one. */
size_t stats_warmup(const double *x, size_t n);

/* A change of level: the values before x[at] have the median `before`, x[at] and later ones have
 * `after`. at is 0 when there is no change: two levels must explain more than half of the variance
 * of 20 or more values, which noise alone does in less than 1% of series. */
struct change {
    size_t at;
    double before, after;
};
struct change stats_change(const double *x, size_t n);

/* One value of a nested sample: its launch, and the value of one block. Sorted by launch. */
struct nested {
    int launch;
    double value;
};

double stats_launch_mean(const struct nested *x, size_t n); /* mean of launch means */

/* Hierarchical bootstrap percentile CI of the median of all blocks pooled: launches are drawn, then
 * blocks within each. `draws` e.g. 10000. One launch: only blocks are drawn, and the caller must
 * say so. The coverage is the nominal one; with few launches the interval is somewhat short. */
struct interval stats_bootstrap_median(const struct nested *x, size_t n, size_t draws, double level,
                                       struct rng *rng);

#endif
