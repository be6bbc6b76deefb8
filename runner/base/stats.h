/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of arrays of doubles, as pure functions. Arrays may be in any order; only an array
 * named `scratch` is changed.
 */
#pragma once

#include "common/rng.h"

#include <stdbool.h>
#include <stddef.h>

struct interval {
    double lo, hi;
    double coverage; /* the actual coverage; order statistics are discrete */
};

/* Quantile p in [0, 1], linear interpolation between order statistics (Hyndman and Fan type 7).
 * NaN if n is 0. */
double stats_quantile(const double *x, size_t n, double p);
double stats_median(const double *x, size_t n);
double stats_mean(const double *x, size_t n);
double stats_mean_error(const double *x, size_t n); /* its standard error; NaN of fewer than 2 */
/* The mean without the lowest and the highest fifth, rounded up; of n < 3 the mean. */
double stats_middle_mean(const double *x, size_t n);
/* stats_quantile without a copy; reorders scratch. */
double stats_quantile_of(double *scratch, size_t n, double p);

/* Distribution-free CI of the median from order statistics: the narrowest symmetric pair
 * (x(k), x(n+1-k)) whose binomial(n, 1/2) coverage is >= level; (min, max) if none reaches it. */
struct interval stats_median_ci(const double *x, size_t n, double level);

/* The number of warm-up values at the start: the d up to n/2 that minimises MSER(d), the squared
 * standard error of the mean of x[d..] (White 1997). 0 unless the mean of the discarded values
 * differs from the mean of the rest by more than 3 + 24/n standard errors: d is the best of n/2, and
 * independent values then lose some in 1 to 2% of series. 0 if n < 8, or if d exceeds
 * `most`: that is a change of level, and either level may be the right one.
 * `most` is WARMUP_OWN(n) in a launch of gradsync: it has few blocks, and a limit of a fifth keeps
 * cold ones (make error-rates: the interval then covers the truth in 87% instead of 95%). It is
 * WARMUP_IMPORTED(n) in a file of another program, whose own warm-up is over. */
#define WARMUP_OWN(n) ((n) / 2)
#define WARMUP_IMPORTED(n) ((n) / 5)
size_t stats_warmup(const double *x, size_t n, size_t most);

/* A change of level: the values before x[at] have the median `before`, the others `after`. `at` is 0
 * if there is no change. Two levels must explain more than half of the variance of at least 20
 * values; noise alone does so in less than 1% of series. */
struct change {
    size_t at;
    double before, after;
};
struct change stats_change(const double *x, size_t n);

/* The value of one block, with its launch and its number there, where that is known. Arrays are
 * sorted by launch. */
struct nested {
    int launch;
    double value;
    int block;
};

double stats_launch_mean(const struct nested *x, size_t n); /* mean of launch means */

/* Hierarchical bootstrap percentile CI of the median of all blocks pooled: draws launches, then
 * blocks within each, `draws` times (e.g. 10000). With one launch it draws blocks only, and the
 * caller must say so. The coverage is nominal; with few launches the interval is somewhat short. */
struct interval stats_bootstrap_median(const struct nested *x, size_t n, size_t draws, double level,
                                       struct rng *rng);

/* ---- Student's t ---- */

/* Student's t distribution. */

/* P(T > t) with df > 0 degrees of freedom, which may be fractional; computed by the continued
 * fraction of the incomplete beta function (Lentz 1976). */
double student_tail(double t, double df);
/* The t >= 0 with student_tail(t, df) = tail, tail in (0, 0.5]. */
double student_quantile(double tail, double df);
