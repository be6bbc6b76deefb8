/* SPDX-License-Identifier: Apache-2.0 */
#include "truth.h"

#include "../normal.h"
#include "compare/collect.h"
#include "rank/stopping.h"

#include <math.h>
#include <stdlib.h>

#define PRECISION 0.01 /* [measure] precision */

#define USUAL .own = 0.004, .noise = 0.02, .blocks = BLOCKS, .most = BLOCKS_MOST, .samples = SAMPLES
const struct regime noisy_blocks = {USUAL};
const struct regime unlike_launches = {
    .own = 0.01, .noise = 0.005, .blocks = BLOCKS, .most = BLOCKS_MOST, .samples = SAMPLES};
const struct regime few_blocks = {
    .own = 0.004, .noise = 0.02, .blocks = FEW, .most = FEW, .samples = SAMPLES};
const struct regime one_sample = {
    .own = 0.004, .noise = 0.02, .blocks = 6, .most = 8, .samples = 1};
/* Quiet blocks: what differs between launches shows. */
#define QUIET                                                                                      \
    .own = 0.004, .noise = 0.005, .blocks = BLOCKS, .most = BLOCKS_MOST, .samples = SAMPLES
const struct regime new_communicators = {QUIET, .communicator = 0.005};
const struct regime lasting_communicators = {QUIET, .communicator = 0.005, .lasting = true};
const struct regime correlated_launches = {QUIET, .correlated = 0.6};
const struct regime rare_launches = {QUIET, .rare = 0.1, .rare_by = 0.2};
const struct regime cold_starts = {USUAL, .cold = 0.1};

double regime_truth(const struct regime *r, double truth)
{
    return truth + r->rare * r->rare_by;
}

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

/* ---- a launch ---- */

struct launch {
    double own[CONFIGS]; /* of the whole launch, but the truth */
    double log_time[PER_LAUNCH];
    double times[CONFIGS][BLOCKS_MOST]; /* s, medians of the visits */
    size_t blocks;
};

/* own[]: in, of the launch before; out, of this one. */
static void draw_own(double *own, const struct regime *r, bool first, struct rng *rng)
{
    double a = first ? 0 : r->correlated;
    for (int i = 0; i < CONFIGS; i++)
        own[i] = a * own[i] + sqrt(1 - a * a) * r->own * rng_normal(rng);
}

static void draw_communicators(double *offset, const struct regime *r, struct rng *rng)
{
    for (int i = 0; i < CONFIGS; i++)
        offset[i] = r->communicator * sqrt(0.5) * rng_normal(rng);
    if (r->lasting)
        offset[COPY] = offset[BASELINE];
}

static void visit_block(struct campaign *c, struct launch *l, const struct regime *r,
                        struct rng *rng)
{
    size_t order[CONFIGS] = {BASELINE, COPY, CONFIG}, n = (size_t)r->samples, at = c->n_raw;
    const double *weather = l->log_time + l->blocks * CONFIGS * n;
    double cold = r->cold * exp(-(double)l->blocks);
    rng_shuffle(rng, order, CONFIGS);
    for (size_t v = 0; v < CONFIGS; v++) {
        double *raw = c->raw[order[v]] + at, more = cold;
        for (size_t i = 0; i < n; i++)
            raw[i] = weather[v * n + i] + l->own[order[v]] + more;
        l->times[order[v]][l->blocks] = exp(stats_median(raw, n));
    }
    c->n_raw += n;
    l->blocks++;
}

/* Blocks until they are enough, as group.c has it. */
static void measure(struct campaign *c, struct launch *l, const struct regime *r, struct rng *rng)
{
    const struct set_measure set = {
        .blocks = r->blocks, .max_blocks = r->most, .precision = PRECISION, .budget = INFINITY};
    struct slot slots[CONFIGS] = {0};
    make_weather(l->log_time, (size_t)r->most * CONFIGS * (size_t)r->samples, r->noise, rng);
    for (bool enough = false; !enough;) {
        visit_block(c, l, r, rng);
        for (int i = 0; i < CONFIGS; i++) {
            slots[i].live = true;
            slots[i].medians = l->times[i];
            slots[i].blocks = l->blocks;
        }
        if (l->blocks < (size_t)r->blocks)
            continue;
        stopping_judge(&set, slots, CONFIGS);
        enough = stopping_enough(&set, slots, CONFIGS, (int)l->blocks, 0);
    }
}

/* Pairs of the blocks that are warm, by the baseline alone: as reduce/gather.c has it. */
static size_t add_pairs(struct nested *out, size_t n, int launch, const struct launch *l, int of)
{
    double mean[BLOCKS_MOST], level = stats_median(l->times[BASELINE], l->blocks),
                              copy = stats_median(l->times[COPY], l->blocks);
    for (size_t b = 0; b < l->blocks; b++)
        mean[b] = l->times[BASELINE][b] / level + l->times[COPY][b] / copy;
    for (size_t b = stats_warmup(mean, l->blocks, WARMUP_OWN(l->blocks)); b < l->blocks; b++)
        out[n++] = (struct nested){.launch = launch,
                                   .value = log(l->times[of][b] / l->times[BASELINE][b])};
    return n;
}

void make_campaign(struct campaign *c, const struct regime *r, double truth, struct rng *rng)
{
    double own[CONFIGS] = {0}, offset[CONFIGS];
    c->n = c->n_aa = c->n_raw = 0;
    draw_communicators(offset, r, rng);
    for (int k = 0; k < LAUNCHES; k++) {
        struct launch l = {0};
        draw_own(own, r, k == 0, rng);
        if (k && !r->lasting)
            draw_communicators(offset, r, rng);
        for (int i = 0; i < CONFIGS; i++)
            l.own[i] = own[i] + offset[i];
        l.own[CONFIG] += truth + (r->rare > 0 && rng_uniform(rng) < r->rare ? r->rare_by : 0);
        measure(c, &l, r, rng);
        c->n = add_pairs(c->effect, c->n, k, &l, CONFIG);
        c->n_aa = add_pairs(c->aa, c->n_aa, k, &l, COPY);
    }
    struct values kept = {c->effect, c->n};
    char *note = NULL;
    values_drop_short(&kept, r->blocks, &note);
    c->n = kept.n;
    free(note);
}
