/* SPDX-License-Identifier: Apache-2.0
 *
 * How often the verdicts are wrong: campaigns with a known truth, through the same functions that
 * `gradsync compare` uses.
 *   error_rates [CAMPAIGNS [SEED [DRAWS]]]      1000 1 2000 unless given
 * Prints a CSV of rates with their 95% intervals (Wilson), and ends with 1 when one is outside the
 * bounds it is held to.
 *
 * The campaigns are those of truth.h.
 *
 * The naive test is Mann-Whitney's over the raw iterations, at 5%: of the same campaign, and of one
 * launch that measures the configs one after the other, as many iterations of each in all.
 */
#include "compare/contrast.h"
#include "rates.h"
#include "reduce/gather.h"
#include "truth.h"

#include "../normal.h"
#include "base/err.h"
#include "base/text.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EQUIVALENCE 0.01
#define EFFECT 0.02
enum { SEQUENCE = LAUNCHES * BLOCKS * SAMPLES }; /* iterations of a config, all in one launch */

/* ---- the naive test ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Two-sided p of Mann-Whitney's U, by the normal approximation; no two values are equal. Sorts. */
static double mann_whitney(double *x, double *y, size_t n)
{
    double u = 0, N = (double)n;
    size_t below = 0;
    qsort(x, n, sizeof *x, by_value);
    qsort(y, n, sizeof *y, by_value);
    for (size_t i = 0; i < n; i++) {
        while (below < n && y[below] < x[i])
            below++;
        u += (double)below;
    }
    double z = (u - N * N / 2) / sqrt(N * N * (2 * N + 1) / 12);
    return erfc(fabs(z) / sqrt(2));
}

/* The config after the baseline; *less: it seemed to take less time. */
static double in_sequence(double truth, bool *less, struct rng *rng)
{
    static _Thread_local double weather[2 * SEQUENCE];
    make_weather(weather, 2 * SEQUENCE, noisy_blocks.noise, rng);
    for (size_t i = SEQUENCE; i < 2 * SEQUENCE; i++)
        weather[i] += truth;
    *less = stats_median(weather + SEQUENCE, SEQUENCE) < stats_median(weather, SEQUENCE);
    return mann_whitney(weather, weather + SEQUENCE, SEQUENCE);
}

/* ---- rates ---- */

enum rate {
    AA_VERDICT,
    AA_FAMILY,
    AA_FEW,
    AA_UNLIKE,
    AA_OTHER, /* in the order of `others`, whose last has a difference in it */
    AA_OTHER_LAST = AA_OTHER + 4,
    AA_INTERVAL,
    AA_NAIVE,
    AA_SEQUENCE,
    FOUND_VERDICT,
    FOUND_FEW,
    FOUND_NAIVE,
    WRONG_VERDICT,
    WRONG_FEW,
    WRONG_NAIVE,
    NOISY_USED, /* coverage: in the order of `methods`, in both regimes */
    NOISY_PLAIN,
    NOISY_EXPANDED,
    UNLIKE_USED,
    UNLIKE_PLAIN,
    UNLIKE_EXPANDED,
    FEW_USED, /* coverage, as above */
    FEW_PLAIN,
    FEW_EXPANDED,
    OTHER_USED, /* in the order of `others` */
    OTHER_LAST = OTHER_USED + 5,
    POWER,                     /* for each of power_effects: POWERS rates */
    FOUND_SPARSE = POWER + 24, /* as most recordings here: 6 to 8 blocks of one sample */
    FAR_FIRST,                 /* for each of far_by */
    FAR_LAST = FAR_FIRST + 2,
    FAR_FOUR, /* of four launches, by FAR_FOUR_BY */
    RATES
};
/* By effect size; a difference of EFFECT has rates of its own. Each POWER_EACH-th campaign. */
static const double power_effects[] = {0.0025, 0.005, 0.01, 0.015, 0.03, 0.05};
enum { POWER_VERDICT, POWER_FEW, POWER_NAIVE, POWER_NAIVE_WRONG, POWERS, POWER_EACH = 4 };
/* What else may be in the noise. Of the last three the promise of the interval does not hold. */
static const struct regime *const others[] = {&new_communicators,   &one_sample,
                                              &cold_starts,         &lasting_communicators,
                                              &correlated_launches, &rare_launches};
enum { OTHERS = sizeof others / sizeof *others };
static const char nothing[] = "nothing there but called a difference",
                  found[] = "2% there and found", wrong[] = "2% there and called the other way",
                  noisy[] = "95% interval covers: noisy blocks",
                  unlike[] = "95% interval covers: unlike launches",
                  few[] = "95% interval covers: three blocks",
                  other[] = "95% interval covers: other noise",
                  undisturbed[] = "undisturbed run of five launches loses one",
                  four[] = "undisturbed run of four launches loses one",
                  sequence[] = "Mann-Whitney one after the other", used[] = "as used here",
                  plain[] = "percentile bootstrap", expanded[] = "expanded percentile";
/* Standard deviations of the baseline between launches. In the recordings it is 0.1 to 2%, over sockets 3 to 10%. */
static const double far_by[] = {0.01, 0.02, 0.05};
#define FAR_FOUR_BY 0.07
#define POWER_OF(i, percent)                                                                       \
    [POWER + (i)*POWERS +                                                                          \
        POWER_VERDICT] = {percent " there and found", "verdict", 0, 1},                            \
        [POWER + (i)*POWERS + POWER_FEW] = {percent " there and found",                            \
                                            "verdict: one of fourteen; three blocks", 0, 1},       \
        [POWER + (i)*POWERS + POWER_NAIVE] = {percent " there and found", sequence, 0, 1},         \
        [POWER + (i)*POWERS +                                                                      \
            POWER_NAIVE_WRONG] = {percent " there and called the other way", sequence, 0, 1}
static const struct rate_bounds rates[RATES] = {
    [AA_VERDICT] = {nothing, "verdict", 0, 0.05},
    [AA_FAMILY] = {nothing, "verdict: any of five", 0, 0.05},
    [AA_FEW] = {nothing, "verdict: any of fourteen; three blocks", 0, 0.05},
    [AA_UNLIKE] = {nothing, "verdict: unlike launches", 0, 0.05},
    [AA_OTHER] = {nothing, "verdict: communicators created anew", 0, 0.05},
    [AA_OTHER + 1] = {nothing, "verdict: blocks of one sample", 0, 0.05},
    [AA_OTHER + 2] = {nothing, "verdict: cold starts", 0, 0.05},
    [AA_OTHER + 3] = {nothing, "verdict: lasting communicators", 0, 1},
    [AA_OTHER_LAST] = {nothing, "verdict: correlated launches", 0, 1},
    [AA_INTERVAL] = {nothing, "interval alone", 0.03, 0.07},
    [AA_NAIVE] = {nothing, "Mann-Whitney in the blocks", 0, 1},
    [AA_SEQUENCE] = {nothing, sequence, 0, 1},
    [FOUND_VERDICT] = {found, "verdict", 0.8, 1},
    [FOUND_FEW] = {found, "verdict: one of fourteen; three blocks", 0, 1},
    [FOUND_NAIVE] = {found, sequence, 0, 1},
    [WRONG_VERDICT] = {wrong, "verdict", 0, 0.001},
    [WRONG_FEW] = {wrong, "verdict: one of fourteen; three blocks", 0, 0.001},
    [WRONG_NAIVE] = {wrong, sequence, 0, 1},
    [NOISY_USED] = {noisy, used, 0.93, 0.97},
    [NOISY_PLAIN] = {noisy, plain, 0, 1},
    [NOISY_EXPANDED] = {noisy, expanded, 0, 1},
    [UNLIKE_USED] = {unlike, used, 0.93, 0.97},
    [UNLIKE_PLAIN] = {unlike, plain, 0, 1},
    [UNLIKE_EXPANDED] = {unlike, expanded, 0, 1},
    [FEW_USED] = {few, used, 0.93, 0.97},
    [FEW_PLAIN] = {few, plain, 0, 1},
    [FEW_EXPANDED] = {few, expanded, 0, 1},
    [OTHER_USED] = {other, "communicators created anew", 0.93, 0.97},
    [OTHER_USED + 1] = {other, "blocks of one sample", 0.93, 0.97},
    [OTHER_USED + 2] = {other, "cold starts", 0.93, 0.97},
    [OTHER_USED + 3] = {other, "lasting communicators", 0, 1},
    [OTHER_USED + 4] = {other, "correlated launches", 0, 1},
    [OTHER_LAST] = {other, "rare slow launches", 0, 1},
    POWER_OF(0, "0.25%"),
    POWER_OF(1, "0.5%"),
    POWER_OF(2, "1%"),
    POWER_OF(3, "1.5%"),
    POWER_OF(4, "3%"),
    POWER_OF(5, "5%"),
    [FOUND_SPARSE] = {found, "verdict: one of fourteen; six to eight blocks of one sample", 0, 1},
    [FAR_FIRST] = {undisturbed, "launches differ by 1%", 0, 0.001},
    [FAR_FIRST + 1] = {undisturbed, "launches differ by 2%", 0, 0.005},
    [FAR_LAST] = {undisturbed, "launches differ by 5%", 0, 1},
    [FAR_FOUR] = {four, "launches differ by 7%", 0, 1},
};

struct tally {
    size_t hits[RATES], trials[RATES];
    size_t draws;
};

static void count(struct tally *t, enum rate r, bool hit)
{
    t->hits[r] += hit;
    t->trials[r]++;
}

static struct judgement judge_campaign(const struct campaign *c, const struct effect *e, double p)
{
    return judge_effect(e, EQUIVALENCE, fabs(stats_launch_mean(c->aa, c->n_aa)), p);
}

static bool called(enum verdict v)
{
    return v == VERDICT_FASTER || v == VERDICT_SLOWER;
}

static struct effect solve(struct campaign *c, const struct regime *r, double truth, size_t draws,
                           struct rng *rng)
{
    make_campaign(c, r, truth, rng);
    return effect_paired(c->effect, c->n, draws, rng);
}

static void count_used(struct tally *t, enum rate r, const struct effect *e, double truth)
{
    count(t, r, e->lo <= truth && truth <= e->hi);
}

/* And how often the intervals do that are not used. */
static void count_coverage(struct tally *t, enum rate used_of, const struct campaign *c,
                           const struct effect *e, double truth, struct rng *rng)
{
    count_used(t, used_of, e, truth);
    for (int widened = 0; widened < 2; widened++) {
        struct interval ci = contrast_percentile(c->effect, c->n, t->draws, widened, rng);
        count(t, (enum rate)((int)used_of + 1 + widened), ci.lo <= truth && truth <= ci.hi);
    }
}

static void count_nothing(struct tally *t, struct campaign *c, struct rng *rng)
{
    struct effect e = solve(c, &noisy_blocks, 0, t->draws, rng);
    count_coverage(t, NOISY_USED, c, &e, 0, rng);
    count(t, AA_VERDICT, called(judge_campaign(c, &e, judgement_p(&e, 1)).verdict));
    count(t, AA_INTERVAL, e.lo > 0 || e.hi < 0);
    count(t, AA_NAIVE, mann_whitney(c->raw[BASELINE], c->raw[CONFIG], c->n_raw) < 0.05);
    bool less;
    count(t, AA_SEQUENCE, in_sequence(0, &less, rng) < 0.05);
}

static void count_unlike(struct tally *t, struct campaign *c, struct rng *rng)
{
    struct effect e = solve(c, &unlike_launches, 0, t->draws, rng);
    count_coverage(t, UNLIKE_USED, c, &e, 0, rng);
    count(t, AA_UNLIKE, called(judge_campaign(c, &e, judgement_p(&e, 1)).verdict));
}

static void count_others(struct tally *t, struct campaign *c, struct rng *rng)
{
    for (int i = 0; i < OTHERS; i++) {
        struct effect e = solve(c, others[i], 0, t->draws / 4, rng);
        count_used(t, (enum rate)(OTHER_USED + i), &e, regime_truth(others[i], 0));
        if (AA_OTHER + i <= AA_OTHER_LAST)
            count(t, (enum rate)(AA_OTHER + i),
                  called(judge_campaign(c, &e, judgement_p(&e, 1)).verdict));
    }
}

struct family {
    struct effect e[LARGE_FAMILY];
    double floors[LARGE_FAMILY], p[LARGE_FAMILY];
    int n;
};

/* Contrasts of their own, which is harder on a family than ones that share a baseline. The truth is
 * that of the last; c is its campaign afterwards. */
static void make_family(struct family *f, int n, const struct regime *r, double truth, size_t draws,
                        struct campaign *c, struct rng *rng)
{
    f->n = n;
    for (int i = 0; i < n; i++) {
        f->e[i] = solve(c, r, i == n - 1 ? truth : 0, draws, rng);
        f->floors[i] = fabs(stats_launch_mean(c->aa, c->n_aa));
        f->p[i] = judgement_p(&f->e[i], (size_t)n);
    }
    contrast_holm(f->p, (size_t)n);
}

static enum verdict member(const struct family *f, int i)
{
    return judge_effect(&f->e[i], EQUIVALENCE, f->floors[i], f->p[i]).verdict;
}

static bool any_called(const struct family *f)
{
    bool any = false;
    for (int i = 0; i < f->n; i++)
        any = any || called(member(f, i));
    return any;
}

static void count_family(struct tally *t, struct campaign *c, struct rng *rng)
{
    struct family f;
    make_family(&f, FAMILY, &noisy_blocks, 0, t->draws / 4, c, rng);
    count(t, AA_FAMILY, any_called(&f));
}

static double truth_of(double effect, bool faster)
{
    return log1p(faster ? -effect : effect);
}

static void count_few(struct tally *t, struct campaign *c, bool faster, struct rng *rng)
{
    double truth = truth_of(EFFECT, faster);
    struct family f;
    make_family(&f, LARGE_FAMILY, &few_blocks, 0, t->draws / 4, c, rng);
    count_coverage(t, FEW_USED, c, &f.e[f.n - 1], 0, rng);
    count(t, AA_FEW, any_called(&f));
    make_family(&f, LARGE_FAMILY, &few_blocks, truth, t->draws / 4, c, rng);
    enum verdict v = member(&f, f.n - 1);
    count(t, FOUND_FEW, v == (faster ? VERDICT_FASTER : VERDICT_SLOWER));
    count(t, WRONG_FEW, v == (faster ? VERDICT_SLOWER : VERDICT_FASTER));
}

static void count_effect(struct tally *t, struct campaign *c, bool faster, struct rng *rng)
{
    double truth = truth_of(EFFECT, faster);
    enum verdict right = faster ? VERDICT_FASTER : VERDICT_SLOWER;
    struct effect e = solve(c, &noisy_blocks, truth, t->draws, rng);
    count_used(t, NOISY_USED, &e, truth);
    enum verdict v = judge_campaign(c, &e, judgement_p(&e, 1)).verdict;
    count(t, FOUND_VERDICT, v == right);
    count(t, WRONG_VERDICT, called(v) && v != right);
    bool less, naive = in_sequence(truth, &less, rng) < 0.05;
    count(t, FOUND_NAIVE, naive && less == faster);
    count(t, WRONG_NAIVE, naive && less != faster);
}

/* The last draws of a campaign: the rates above do not depend on them. */
static void count_power(struct tally *t, struct campaign *c, bool faster, struct rng *rng)
{
    enum verdict right = faster ? VERDICT_FASTER : VERDICT_SLOWER;
    for (size_t i = 0; i < sizeof power_effects / sizeof *power_effects; i++) {
        int first = POWER + (int)i * POWERS;
        double truth = truth_of(power_effects[i], faster);
        struct effect e = solve(c, &noisy_blocks, truth, t->draws / 4, rng);
        enum verdict v = judge_campaign(c, &e, judgement_p(&e, 1)).verdict;
        count(t, (enum rate)(first + POWER_VERDICT), v == right);
        struct family f;
        make_family(&f, LARGE_FAMILY, &few_blocks, truth, t->draws / 4, c, rng);
        count(t, (enum rate)(first + POWER_FEW), member(&f, f.n - 1) == right);
        bool less, naive = in_sequence(truth, &less, rng) < 0.05;
        count(t, (enum rate)(first + POWER_NAIVE), naive && less == faster);
        count(t, (enum rate)(first + POWER_NAIVE_WRONG), naive && less != faster);
    }
}

static void count_sparse(struct tally *t, struct campaign *c, bool faster, struct rng *rng)
{
    struct family f;
    make_family(&f, LARGE_FAMILY, &one_sample, truth_of(EFFECT, faster), t->draws / 4, c, rng);
    count(t, FOUND_SPARSE, member(&f, f.n - 1) == (faster ? VERDICT_FASTER : VERDICT_SLOWER));
}

static void count_far(struct tally *t, enum rate rate, int launches, double by, struct rng *rng)
{
    double median[LAUNCHES], rest[LAUNCHES - 1];
    bool far = false;
    for (int k = 0; k < launches; k++)
        median[k] = exp(by * rng_normal(rng));
    for (int k = 0; k < launches; k++) {
        size_t n = 0;
        for (int o = 0; o < launches; o++)
            if (o != k)
                rest[n++] = median[o];
        far = far || launches_far(median[k], rest, n);
    }
    count(t, rate, far);
}

/* ---- report ---- */

static uint64_t argument(int argc, char **argv, int i, uint64_t otherwise)
{
    return argc > i ? strtoull(argv[i], NULL, 10) : otherwise;
}

/* ---- campaigns, shared out among the processors ---- */

struct share {
    uint64_t first, step, campaigns, seed; /* each step-th of them */
    struct tally t;
};

/* Each campaign has a stream of its own, so that it is the same whoever runs it. */
static void *work(void *arg)
{
    struct share *s = arg;
    struct campaign *c = xmalloc(sizeof *c);
    for (uint64_t i = s->first; i < s->campaigns; i += s->step) {
        struct rng rng;
        rng_stream(&rng, s->seed, i);
        count_nothing(&s->t, c, &rng);
        count_effect(&s->t, c, i % 2, &rng);
        count_unlike(&s->t, c, &rng);
        count_others(&s->t, c, &rng);
        count_family(&s->t, c, &rng);
        count_few(&s->t, c, i % 2, &rng);
        count_sparse(&s->t, c, i % 2, &rng);
        for (size_t k = 0; k < COUNT(far_by); k++)
            count_far(&s->t, (enum rate)(FAR_FIRST + (int)k), LAUNCHES, far_by[k], &rng);
        if (i % POWER_EACH == 0)
            count_power(&s->t, c, i / POWER_EACH % 2, &rng);
        count_far(&s->t, FAR_FOUR, LAUNCHES - 1, FAR_FOUR_BY, &rng);
    }
    free(c);
    return NULL;
}

static void add_tally(struct tally *t, const struct tally *part)
{
    for (int r = 0; r < RATES; r++) {
        t->hits[r] += part->hits[r];
        t->trials[r] += part->trials[r];
    }
}

static int run_all(struct share all)
{
    enum { MOST = 64 };
    static struct share shares[MOST];
    pthread_t threads[MOST];
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = cpus < 1 ? 1 : cpus > MOST ? MOST : (size_t)cpus, started = 0;
    for (; started < n; started++) {
        shares[started] = all;
        shares[started].first = started;
        shares[started].step = n;
        if (pthread_create(&threads[started], NULL, work, &shares[started]))
            break;
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        add_tally(&all.t, &shares[i].t);
    }
    return started == n ? rates_report(rates, all.t.hits, all.t.trials, RATES)
                        : fail(GS_FAILED, "no thread for the campaigns");
}

int main(int argc, char **argv)
{
    struct share all = {.campaigns = argument(argc, argv, 1, 1000),
                        .seed = argument(argc, argv, 2, 1),
                        .t.draws = argument(argc, argv, 3, 2000)};
    if (!all.campaigns || all.t.draws < 100)
        return fail(GS_USAGE, "usage: error_rates [CAMPAIGNS [SEED [DRAWS]]], 100 draws or more");
    return run_all(all);
}
