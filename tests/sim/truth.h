/* SPDX-License-Identifier: Apache-2.0
 *
 * Campaigns with a known truth, for error_rates.c.
 *
 * A campaign has LAUNCHES launches of BLOCKS blocks, or of FEW; a block visits the baseline, its
 * copy and a config in random order, ITERATIONS iterations each. Of an iteration's time, the
 * logarithm is the sum of
 *   the launch        N(0, 3%), and N(0, 0.4%) for each config in it: what placement does; N(0, 1%)
 *                     in the campaigns of "unlike launches"
 *   a drift           linear over the launch, N(0, 5%) from its first to its last iteration
 *   a clock step      once a launch, anywhere in its middle half, -6% from there on
 *   noise             AR(1), coefficient 0.9, stationary standard deviation 2%; 0.5% there
 *   a spike           of 50%, in one iteration of a hundred
 *   the truth         of the config alone
 * and the value of a visit is the median over its iterations, as in a recording.
 */
#ifndef GS_SIM_TRUTH_H
#define GS_SIM_TRUTH_H

#include "verdict/contrast.h"

enum { LAUNCHES = 5, BLOCKS = 20, ITERATIONS = 10, CONFIGS = 3, FAMILY = 5 };
enum { FEW = 3, LARGE_FAMILY = 14 }; /* what the shortest recordings have */
enum { BASELINE, COPY, CONFIG };
#define PER_LAUNCH (BLOCKS * CONFIGS * ITERATIONS)
#define PAIRS (LAUNCHES * BLOCKS)
#define RAW (PAIRS * ITERATIONS)

struct regime {
    double own, noise; /* standard deviations */
    int blocks;        /* a launch */
};
extern const struct regime noisy_blocks, unlike_launches, few_blocks;

struct campaign {
    struct nested effect[PAIRS], aa[PAIRS]; /* log-ratios, a block; so many as the regime has */
    double raw[CONFIGS][RAW];               /* log-times */
};

/* What all configs of a launch live through, iteration by iteration; sd: of the noise. */
void make_weather(double *log_time, size_t n, double sd, struct rng *rng);
/* truth: the log of the config's time over the baseline's. */
void make_campaign(struct campaign *c, const struct regime *r, double truth, struct rng *rng);

#endif
