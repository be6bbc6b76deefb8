/* SPDX-License-Identifier: Apache-2.0
 *
 * How often `gradsync trial` is wrong: trials of five minutes with a known truth, through the same
 * functions that print its result (runner/job/trial_result.h, price.h).
 *   trial_rates [TRIALS [SEED]]      1000 1 unless given
 * Prints a CSV of rates with their 95% intervals, and ends with 1 if one is outside its bounds.
 *
 * A trial visits auto, its copy and the arms for two seconds each, in random order within a block.
 * The logarithm of a visit's time is the sum of white noise, AR(1) noise over the visits, a drift
 * over the trial, a clock step in its middle half, disturbed visits, and the truth of the arm. A
 * trial ends when each arm has a verdict.
 *
 * And the price of communication: 16 blocks, or fewer once its interval is narrow. Other programs on
 * the machine make some visits of every arm slower by 30%; the truth is the price without them.
 */
#include "rates.h"

#include "base/err.h"
#include "base/text.h"
#include "common/rng.h"
#include "job/price.h"
#include "job/trial_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS = 300, VISIT_S = 2, ARMS_MOST = 3, STEPS = 21, DRAWS = 1000 };
#define VISITS_MOST (SECONDS / VISIT_S)

static const char *const labels[] = {"auto", "ctas=8", "ctas=16", "ring/LL"};

/* `noise`: standard deviation of the log-ratio of two visits of a block. */
struct regime {
    const char *name;
    int arms;
    double noise, correlated, drift, step, disturbed;
    uint32_t every; /* N: one visit in N is disturbed */
    double found;   /* the least share of trials that must find 2% */
};
static const struct regime regimes[] = {
    {"noise 0.5%", 1, 0.005, 0, 0.05, -0.03, 0, 50, 0.8},
    {"noise 1%", 1, 0.01, 0, 0.05, -0.03, 0, 50, 0.8},
    {"noise 1%; three arms", 3, 0.01, 0, 0.05, -0.03, 0, 50, 0.8},
    {"noise 1%; correlated visits", 3, 0.005, 0.01, 0.05, -0.03, 0, 50, 0.8},
    {"noise 1%; one visit of fifty 5% slower", 3, 0.01, 0, 0.05, -0.03, 0.05, 50, 0.8},
    {"noise 3%; three arms", 3, 0.03, 0, 0.05, -0.03, 0, 50, 0.75}, /* 0.84 of many trials */
};
static const char *const price_labels[] = {"auto", "none", "one", "half"};
static const struct regime priced[] = {
    {"no slow visits", 3, 0.01, 0, 0.05, -0.03, 0, 50, 0},
    {"correlated visits", 3, 0.005, 0.01, 0.05, -0.03, 0, 50, 0},
    {"one visit of ten 30% slower", 3, 0.01, 0, 0.05, -0.03, 0.3, 10, 0},
    {"one visit of five 30% slower", 3, 0.01, 0, 0.05, -0.03, 0.3, 5, 0},
};
enum { REGIMES = sizeof regimes / sizeof *regimes, PRICED = sizeof priced / sizeof *priced };
#define PRICE_BLOCKS 16
#define PRICE 0.13

/* ---- a trial ---- */

struct weather {
    const struct regime *r;
    struct rng *rng;
    double drift, ar;
    size_t i, n, step_at;
};

static double next_log_time(struct weather *w)
{
    const struct regime *r = w->r;
    double x = r->noise / sqrt(2) * rng_normal(w->rng);
    w->ar = 0.9 * w->ar + r->correlated * sqrt(1 - 0.9 * 0.9) * rng_normal(w->rng);
    x += w->ar + w->drift * (double)w->i / (double)w->n;
    x += w->i >= w->step_at ? r->step : 0;
    x += r->disturbed > 0 && rng_below(w->rng, r->every) == 0 ? r->disturbed : 0;
    w->i++;
    return x;
}

static void make_trial(struct trial_comm *c, const struct regime *r, const char *const *names,
                       double truth, struct rng *rng)
{
    size_t a_block = (size_t)r->arms + 2, order[ARMS_MOST + 2];
    size_t n = SECONDS / VISIT_S / a_block * a_block;
    struct weather w = {.r = r,
                        .rng = rng,
                        .drift = r->drift * rng_normal(rng),
                        .n = n,
                        .step_at = n / 4 + rng_below(rng, n / 2)};
    c->n = n;
    for (size_t i = 0; i < n; i++) {
        if (i % a_block == 0) {
            for (size_t k = 0; k < a_block; k++)
                order[k] = k;
            rng_shuffle(rng, order, a_block);
        }
        size_t arm = order[i % a_block];
        bool copy = arm == a_block - 1;
        double x = next_log_time(&w) + (arm == 1 ? truth : 0);
        c->visits[i] = (struct trial_visit){.block = (int64_t)(i / a_block),
                                            .copy = copy,
                                            .steps = STEPS,
                                            .arm = (char *)(uintptr_t)names[copy ? 0 : arm],
                                            .most_ns = (uint64_t)(1e9 * VISIT_S * exp(x))};
    }
}

/* As trial_job.c ends a trial, at most once a block. */
static void end_early(struct trial_comm *c, const struct regime *r)
{
    size_t n = c->n, looked_at = 0;
    for (c->n = 0; c->n < n;) {
        c->n += (size_t)r->arms + 2;
        if (trial_result_enough(c, &looked_at, DRAWS))
            return;
    }
}

/* ---- rates ---- */

enum rate { FALSE_ALARM, KEPT, COVERS, FOUND, FOUND_HALF, OTHER_WAY, RATES };
static size_t hits[REGIMES][RATES], trials[REGIMES][RATES];

static void count(size_t regime, enum rate r, bool hit)
{
    hits[regime][r] += hit;
    trials[regime][r]++;
}

static const struct trial_verdict *first_arm(const struct trial_verdict *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(v[i].arm, labels[1]))
            return &v[i];
    return NULL;
}

static void count_nothing(size_t regime, struct trial_comm *c, struct rng *rng)
{
    struct trial_verdict *v;
    bool any = false, faster = false;
    make_trial(c, &regimes[regime], labels, 0, rng);
    end_early(c, &regimes[regime]);
    size_t n = trial_verdicts(&v, c, DRAWS);
    for (size_t i = 0; i < n; i++) {
        any = any || verdict_is_difference(v[i].verdict);
        faster = faster || v[i].verdict == VERDICT_FASTER;
    }
    const struct effect *e = &first_arm(v, n)->effect;
    count(regime, FALSE_ALARM, any);
    count(regime, KEPT, faster);
    count(regime, COVERS, e->lo <= 0 && e->hi >= 0);
    free(v);
}

static void count_effect(size_t regime, struct trial_comm *c, double size, bool faster,
                         struct rng *rng)
{
    struct trial_verdict *v;
    make_trial(c, &regimes[regime], labels, log1p(faster ? -size : size), rng);
    end_early(c, &regimes[regime]);
    size_t n = trial_verdicts(&v, c, DRAWS);
    enum verdict got = first_arm(v, n)->verdict;
    count(regime, size < 0.02 ? FOUND_HALF : FOUND,
          got == (faster ? VERDICT_FASTER : VERDICT_SLOWER));
    count(regime, OTHER_WAY, got == (faster ? VERDICT_SLOWER : VERDICT_FASTER));
    free(v);
}

/* ---- prices ---- */

static size_t price_covers[PRICED], price_alarms[PRICED], prices;

static void count_price(size_t regime, struct trial_comm *c, json_t *left_out, struct rng *rng)
{
    struct price_answer a = {0};
    struct trial_verdict *v;
    size_t most = (size_t)PRICE_BLOCKS * (ARMS_MOST + 2);
    make_trial(c, &priced[regime], price_labels, log1p(-PRICE), rng);
    for (size_t i = 0; i < c->n; i++)
        c->visits[i].ran = left_out;
    for (c->n = 0; c->n < most && !price_enough(&a);) {
        c->n += ARMS_MOST + 2;
        price_from(&a, c);
    }
    size_t n = trial_verdicts(&v, c, DRAWS);
    for (size_t i = 0; i < n; i++)
        if (v[i].copy)
            price_alarms[regime] += v[i].effect.lo > 0 || v[i].effect.hi < 0;
    price_covers[regime] += a.none.lo <= PRICE && PRICE <= a.none.hi;
    free(v);
}

static int report(void)
{
    struct rate_bounds bounds[RATES * REGIMES + 2 * PRICED];
    size_t all_hits[RATES * REGIMES + 2 * PRICED], all_trials[RATES * REGIMES + 2 * PRICED], n = 0;
    for (int r = 0; r < RATES; r++)
        for (size_t i = 0; i < REGIMES; i++) {
            const char *name = regimes[i].name;
            const struct rate_bounds of[RATES] = {
                [FALSE_ALARM] = {"trial: nothing there but an arm called different", name, 0, 0.05},
                [KEPT] = {"trial: nothing there but --keep-best keeps an arm", name, 0, 0.025},
                [COVERS] = {"trial: 95% interval covers", name, 0.93, 0.97},
                [FOUND] = {"trial: 2% there and found", name, regimes[i].found, 1},
                [FOUND_HALF] = {"trial: 1% there and found", name, 0, 1},
                [OTHER_WAY] = {"trial: 1% or 2% there and called the other way", name, 0, 0.001},
            };
            bounds[n] = of[r];
            all_hits[n] = hits[i][r];
            all_trials[n++] = trials[i][r];
        }
    for (size_t i = 0; i < 2 * (size_t)PRICED; i++) {
        bool covers = i < PRICED;
        size_t k = i % PRICED;
        bounds[n] =
            covers ? (struct rate_bounds){"price: 95% interval covers", priced[k].name, 0.93, 1}
                   : (struct rate_bounds){"price: the second auto called different", priced[k].name,
                                          0, 0.05};
        all_hits[n] = covers ? price_covers[k] : price_alarms[k];
        all_trials[n++] = prices;
    }
    return rates_report(bounds, all_hits, all_trials, n);
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    struct trial_comm c = {.visits = xcalloc(VISITS_MOST, sizeof *c.visits)};
    json_t *left_out = json_pack("{si}", "none", 1);
    if (!n)
        return fail(GS_USAGE, "usage: trial_rates [TRIALS [SEED]]");
    for (uint64_t i = 0; i < n; i++)
        for (size_t r = 0; r < REGIMES; r++) {
            struct rng rng;
            rng_stream(&rng, seed, i * REGIMES + r);
            count_nothing(r, &c, &rng);
            count_effect(r, &c, 0.02, i % 2, &rng);
            count_effect(r, &c, 0.01, i % 2, &rng);
        }
    for (prices = 0; prices < n; prices++)
        for (size_t r = 0; r < PRICED; r++) {
            struct rng rng;
            rng_stream(&rng, seed + 1, prices * PRICED + r);
            count_price(r, &c, left_out, &rng);
        }
    json_decref(left_out);
    free(c.visits);
    return report();
}
