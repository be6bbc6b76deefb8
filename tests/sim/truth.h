/* SPDX-License-Identifier: Apache-2.0
 *
 * Campaigns with a known truth, for error_rates.c, measured and reduced as a run is: blocks until
 * the stopping rule has enough (stopping.h), each launch without its warm-up (stats.h), pairs of
 * the blocks that are left, and no launch of too few of them (compare/collect.h).
 *
 * A campaign has LAUNCHES launches; a block visits the baseline, its copy and a config in random
 * order. Of an iteration's time, the logarithm is the sum of
 *   the launch        N(0, 3%), and N(0, own) for each config in it: what placement does
 *   a drift           linear over the launch, N(0, 5%) from its first to its last iteration
 *   a clock step      once a launch, anywhere in its middle half, -6% from there on
 *   noise             AR(1), coefficient 0.9, of this stationary standard deviation
 *   a spike           of 50%, in one iteration of a hundred
 *   the truth         of the config alone
 * and of what a regime adds. The value of a visit is the median over its samples.
 */
#pragma once

#include "compare/contrast.h"

enum { LAUNCHES = 5, BLOCKS = 20, BLOCKS_MOST = 30, SAMPLES = 10, CONFIGS = 3, FAMILY = 5 };
enum { FEW = 3, LARGE_FAMILY = 14 }; /* what the shortest recordings have */
enum { BASELINE, COPY, CONFIG };
#define PER_LAUNCH (BLOCKS_MOST * CONFIGS * SAMPLES)
#define PAIRS (LAUNCHES * BLOCKS_MOST)
#define RAW (PAIRS * SAMPLES)

struct regime {
    double own, noise;         /* standard deviations */
    int blocks, most, samples; /* [measure] blocks, max_blocks, samples */
    double correlated;         /* what a config owns in one launch with the same in the next */
    double communicator;       /* standard deviation of the difference between two */
    bool lasting;              /* that stays over the launches, and the copy shares its baseline's;
                                  otherwise each launch draws it anew, for the copy too */
    double rare, rare_by;      /* this share of the config's launches is slower by so much */
    double cold; /* the first block of a launch is slower by so much, the next by 1/e */
};
extern const struct regime noisy_blocks, unlike_launches, few_blocks;
/* What could break the promise of the interval. */
extern const struct regime new_communicators, one_sample, cold_starts, lasting_communicators,
    correlated_launches, rare_launches;

struct campaign {
    struct nested effect[PAIRS], aa[PAIRS]; /* log-ratios, a block */
    size_t n, n_aa;
    double raw[CONFIGS][RAW]; /* log-times */
    size_t n_raw;             /* of each config */
};

/* What all configs of a launch live through, iteration by iteration; sd: of the noise. */
void make_weather(double *log_time, size_t n, double sd, struct rng *rng);
/* truth: the log of the config's time over the baseline's, apart from rare launches. */
void make_campaign(struct campaign *c, const struct regime *r, double truth, struct rng *rng);
/* What the interval has to cover: the mean over all launches there could be. */
double regime_truth(const struct regime *r, double truth);
