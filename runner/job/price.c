/* SPDX-License-Identifier: Apache-2.0 */
#include "job/price.h"

#include "base/err.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/units.h"
#include "job/job_recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Half and one leave early if time is short, and one block may be disturbed. */
#define PART_BLOCKS 3
#define NOISY 0.02      /* half the width of an interval */
#define CLOSE 0.005     /* so is an interval narrow enough: in the step, */
#define CLOSE_PART 0.03 /* or in the price */

/* ---- effects ---- */

/* The logarithm of the step of an arm in a block; of NULL: the mean of both visits of auto. NaN: the block lacks it. */
static double log_s(const struct visits *all, int launch, int64_t block, const char *arm)
{
    const struct visit *v = visit_of(all, launch, block, arm ? arm : "auto", 0), *again = NULL;
    if (!arm)
        again = visit_of(all, launch, block, "auto", 1);
    if (!v || !v->most_ns)
        return NAN;
    return (log(visit_step_s(v)) + log(visit_step_s(again && again->most_ns ? again : v))) / 2;
}

/* Differences within the blocks of a launch. x: for all->n. */
static size_t differences(double *x, const struct visits *all, int launch, const char *a,
                          const char *b)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct visit *v = &all->v[i];
        if ((launch != ANY_LAUNCH && v->launch != launch) || v->copy || strcmp(v->arm, a))
            continue;
        double d = log_s(all, v->launch, v->block, a) - log_s(all, v->launch, v->block, b);
        if (!isnan(d))
            x[n++] = d;
    }
    return n;
}

/* The estimate of a price: the median over blocks, and the interval of its order statistics. A price
 * has few blocks, and other programs on the machine make some of them much slower. A mean counts
 * these, and they are not even: ranks that wait for each other lose more time than ranks that do not
 * communicate. */
static struct effect median_of(const double *x, size_t n)
{
    struct interval ci = stats_median_ci(x, n, CONTRAST_LEVEL);
    return (struct effect){.value = stats_median(x, n),
                           .lo = ci.lo,
                           .hi = ci.hi,
                           .p_interval = NAN,
                           .launches = (int)n,
                           .blocks = n};
}

static struct effect mean_of(const double *x, size_t n)
{
    double mean = stats_mean(x, n), se = stats_mean_error(x, n), df = (double)n - 1;
    double half = n > 1 ? student_quantile(0.025, df) * se : (double)NAN;
    return (struct effect){.value = mean,
                           .lo = mean - half,
                           .hi = mean + half,
                           .se = se,
                           .df = df,
                           .p_interval = NAN,
                           .launches = (int)n,
                           .blocks = n};
}

struct effect arm_effect(const struct visits *all, int launch, const char *arm)
{
    AUTO_FREE double *x = xcalloc(all->n + 1, sizeof *x);
    return median_of(x, differences(x, all, launch, arm, NULL));
}

struct effect arm_difference(const struct visits *all, const char *a, const char *b)
{
    AUTO_FREE double *x = xcalloc(all->n + 1, sizeof *x);
    return mean_of(x, differences(x, all, ANY_LAUNCH, a, b));
}

struct effect arm_over_launches(const struct visits *all, const char *arm)
{
    AUTO_FREE double *x = xcalloc(all->n + 1, sizeof *x);
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (!i || all->v[i].launch != all->v[i - 1].launch) { /* visits are sorted by launch */
            struct effect e = arm_effect(all, all->v[i].launch, arm);
            x[n] = e.value;
            n += e.launches >= PART_BLOCKS; /* a launch that was cut short has few blocks */
        }
    return mean_of(x, n);
}

#define PRIOR_DF 2
#define PRIOR_SD 0.014

double launches_spread(const struct visits *all, double *df)
{
    AUTO_FREE double *x = xcalloc(all->n + 1, sizeof *x);
    double squares = PRIOR_DF * PRIOR_SD * PRIOR_SD;
    *df = PRIOR_DF;
    for (size_t i = 0; i < all->n; i++) {
        size_t k = 0;
        while (strcmp(all->v[k].arm, all->v[i].arm))
            k++;
        if (k < i || !strcmp(all->v[i].arm, "auto")) /* each arm once */
            continue;
        size_t n = differences(x, all, ANY_LAUNCH, all->v[i].arm, NULL);
        double mean = stats_mean(x, n);
        for (k = 0; k < n; k++)
            squares += pow(x[k] - mean, 2);
        *df += n ? (double)n - 1 : 0;
    }
    return sqrt(squares / *df);
}

struct effect launch_difference(const struct visits *all, const char *a, const char *b)
{
    struct effect e = arm_difference(all, a, b);
    double df, half = launches_spread(all, &df) / sqrt(e.launches);
    half *= student_quantile(0.025, df);
    e.lo = e.value - half;
    e.hi = e.value + half;
    return e;
}

/* ---- the price of a launch ---- */

/* A logarithm of the step against auto. 0 - x, because -x would print a price of nothing as -0.0%. */
static struct price_share shorter(const struct effect *e)
{
    return (struct price_share){0 - expm1(e->value), 0 - expm1(e->hi), 0 - expm1(e->lo)};
}

static const struct price_share no_share = {NAN, NAN, NAN};

/* What a rank waits with one element, as a share of auto's step in that block. */
static struct price_share waits(const struct visits *all, int launch, int64_t rank)
{
    AUTO_FREE double *x = xcalloc(all->n + 1, sizeof *x);
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct visit *one = &all->v[i], *none, *base;
        if (one->launch != launch || one->copy || strcmp(one->arm, "one") ||
            !(none = visit_of(all, launch, one->block, "none", 0)) ||
            !(base = visit_of(all, launch, one->block, "auto", 0)) || !one->rank_ns ||
            !none->rank_ns)
            continue;
        double with = (double)one->rank_ns[rank] / (double)(one->steps - 1),
               without = (double)none->rank_ns[rank] / (double)(none->steps - 1);
        x[n++] = (with - without) / 1e9 / visit_step_s(base);
    }
    struct effect e = median_of(x, n);
    return n < PART_BLOCKS ? no_share : (struct price_share){e.value, e.lo, e.hi};
}

/* Without communication a rank that is early does not wait, so the one that waits longest gains most. */
static struct price_share waits_longest(const struct visits *all, int launch)
{
    struct price_share most = no_share;
    for (int64_t rank = 0; rank < all->ranks; rank++) {
        struct price_share s = waits(all, launch, rank);
        if (isnan(most.value) || s.value > most.value)
            most = s;
    }
    return most;
}

static double step_of(const struct visits *all, int launch)
{
    AUTO_FREE double *v = xcalloc(all->n + 1, sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].launch == launch && !strcmp(all->v[i].arm, "auto") && all->v[i].most_ns)
            v[n++] = visit_step_s(&all->v[i]);
    return stats_median(v, n) * (all->periods > 0 ? all->periods : 1);
}

static bool left_out(const struct visits *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (!strcmp(all->v[i].arm, "none") && all->v[i].left_out)
            return true;
    return false;
}

/* Of several launches, as a recording of one job has them. */
static void price_over_launches(struct price_answer *a, const struct visits *all)
{
    AUTO_FREE double *x = xcalloc(all->n + 1, sizeof *x), *step = xcalloc(all->n + 1, sizeof *step);
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        int launch = all->v[i].launch;
        if (i && launch == all->v[i - 1].launch)
            continue; /* visits are sorted by launch */
        double e = arm_effect(all, launch, "none").value;
        if (isnan(e))
            continue;
        x[n] = e;
        step[n++] = log(step_of(all, launch));
    }
    if (n < 2)
        return;
    struct effect e = mean_of(x, n);
    a->none = shorter(&e);
    a->noise = (a->none.hi - a->none.lo) / 2;
    a->step_s = exp(stats_mean(step, n));
    a->launches = (int)n;
    a->known = left_out(all);
}

bool price_from(struct price_answer *a, const struct visits *all)
{
    int first = all->n ? all->v[0].launch : 0;
    *a = (struct price_answer){.step_s = step_of(all, first)};
    if (!visits_have(all, "none"))
        return false;
    struct effect none = arm_effect(all, first, "none"), half = arm_effect(all, first, "half");
    a->blocks = none.launches;
    a->none = shorter(&none);
    a->half = half.launches < PART_BLOCKS ? no_share : shorter(&half);
    a->waiting = waits_longest(all, first);
    a->noise = (a->none.hi - a->none.lo) / 2;
    a->known = a->blocks >= BLOCKS_MIN && left_out(all);
    if (!left_out(all))
        snprintf(a->why, sizeof a->why, "%s", PRICE_NOTHING);
    else if (!all->step_calls)
        snprintf(a->why, sizeof a->why,
                 "two launches with and two without communication are needed");
    else if (!a->known)
        snprintf(a->why, sizeof a->why,
                 "the job ended, or the time was over, after %d of the %d blocks that a price "
                 "needs",
                 a->blocks, BLOCKS_MIN);
    price_over_launches(a, all);
    return true;
}

bool price_enough(const struct price_answer *a)
{
    double half = (a->half.hi - a->half.lo) / 2;
    double narrow = fmax(CLOSE, CLOSE_PART * fabs(a->none.value));
    return a->known && a->noise <= narrow && !(isfinite(half) && half > 2 * narrow);
}

char *price_sentence(const struct price_answer *a)
{
    struct text t = {0};
    bool zero = a->none.lo <= 0 && a->none.hi >= 0;
    text_addf(&t, "%sommunication costs %.1f%% [%.1f, %.1f] of the step (%s of %s)",
              zero ? "Not shown: c" : "C", 100 * a->none.value, 100 * a->none.lo, 100 * a->none.hi,
              HUMAN_TIME(fmax(0, a->none.value) * a->step_s), HUMAN_TIME(a->step_s));
    if (a->launches)
        text_addf(&t, ", in %d launches", a->launches);
    text_add(&t, ".");
    bool longer = a->half.value < 0; /* 0 - x: as in shorter() */
    if (a->half.hi - a->half.lo < 1) /* a wider interval, or NaN, says nothing */
        text_addf(&t, " %sith half the bytes the step is %.1f%% [%.1f, %.1f] %s.",
                  a->launches ? "In the first launch, w" : "W", 100 * fabs(a->half.value),
                  100 * (longer ? 0 - a->half.hi : a->half.lo),
                  100 * (longer ? 0 - a->half.lo : a->half.hi), longer ? "longer" : "shorter");
    if (!isnan(a->waiting.value))
        text_addf(&t,
                  " Waiting and latency%s, of the rank that waits longest: %.1f%% [%.1f, %.1f].",
                  a->launches ? " there" : "", 100 * a->waiting.value, 100 * a->waiting.lo,
                  100 * a->waiting.hi);
    return t.s;
}

char *price_noise(const struct price_answer *a)
{
    return a->known && a->noise > NOISY ? xstrfmt("the steps of this job vary, so within a launch "
                                                  "a difference of less than %.1f%% cannot be seen",
                                                  100 * a->noise)
                                        : NULL;
}

/* ---- from a recording ---- */

int price_read(struct price_answer *a, const char *dir)
{
    struct visits all;
    *a = (struct price_answer){0};
    int code = job_recording_visits(&all, dir);
    if (!code && all.n)
        price_from(a, &all);
    visits_free(&all);
    return code;
}
