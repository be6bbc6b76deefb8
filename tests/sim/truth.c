/* SPDX-License-Identifier: Apache-2.0 */
#include "truth.h"

#include <math.h>

const struct regime noisy_blocks = {0.004, 0.02, BLOCKS}, unlike_launches = {0.01, 0.005, BLOCKS},
                    few_blocks = {0.004, 0.02, FEW};

void make_weather(double *log_time, size_t n, double sd, struct rng *rng)
{
    double launch = 0.03 * rng_normal(rng), drift = 0.05 * rng_normal(rng);
    double noise = sd * rng_normal(rng);
    size_t step = n / 4 + (size_t)rng_below(rng, n / 2);
    for (size_t i = 0; i < n; i++) {
        noise = 0.9 * noise + sd * sqrt(1 - 0.9 * 0.9) * rng_normal(rng);
        log_time[i] = launch + drift * (double)i / (double)n + noise;
        log_time[i] += i >= step ? -0.06 : 0;
        log_time[i] += rng_below(rng, 100) == 0 ? log(1.5) : 0;
    }
}

static void visit_block(struct campaign *c, int launch, size_t at, const double *weather,
                        const double own[CONFIGS], struct rng *rng)
{
    size_t order[CONFIGS] = {BASELINE, COPY, CONFIG};
    double median[CONFIGS];
    rng_shuffle(rng, order, CONFIGS);
    for (size_t v = 0; v < CONFIGS; v++) {
        double *raw = c->raw[order[v]] + at * ITERATIONS;
        for (size_t i = 0; i < ITERATIONS; i++)
            raw[i] = weather[v * ITERATIONS + i] + own[order[v]];
        median[order[v]] = stats_median(raw, ITERATIONS);
    }
    c->effect[at] = (struct nested){launch, median[CONFIG] - median[BASELINE]};
    c->aa[at] = (struct nested){launch, median[COPY] - median[BASELINE]};
}

void make_campaign(struct campaign *c, const struct regime *r, double truth, struct rng *rng)
{
    double weather[PER_LAUNCH] = {0}, own[CONFIGS];
    const size_t blocks = (size_t)r->blocks;
    for (int l = 0; l < LAUNCHES; l++) {
        make_weather(weather, blocks * CONFIGS * ITERATIONS, r->noise, rng);
        for (int i = 0; i < CONFIGS; i++)
            own[i] = r->own * rng_normal(rng) + (i == CONFIG ? truth : 0);
        for (size_t b = 0; b < blocks; b++)
            visit_block(c, l, (size_t)l * blocks + b, weather + b * CONFIGS * ITERATIONS, own, rng);
    }
}
