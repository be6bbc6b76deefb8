/* SPDX-License-Identifier: Apache-2.0 */
#include "job/price.h"

#include "base/err.h"
#include "base/files.h"
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

/* The logarithm of the step of an arm in a block; of auto, and of NULL: the mean of its two visits. NaN: the block
 * lacks it. */
static double log_s(const struct visits *all, int launch, int64_t block, const char *arm)
{
    const struct visit *v = visit_of(all, launch, block, arm ? arm : "auto", 0), *again = NULL;
    if (!arm)
        again = visit_of(all, launch, block, "auto", 1);
    return v ? (log(visit_step_s(v)) + log(visit_step_s(again ? again : v))) / 2 : (double)NAN;
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
        double d = log(visit_step_s(v)) - log_s(all, v->launch, v->block, b);
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
        if (all->v[i].launch == launch && !strcmp(all->v[i].arm, "auto"))
            v[n++] = visit_step_s(&all->v[i]);
    return stats_median(v, n);
}

static bool left_out(const struct visits *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (!strcmp(all->v[i].arm, "none") && all->v[i].left_out)
            return true;
    return false;
}

/* x: logarithms of the step without communication against that of the job as it is, by launch; step: of the latter. */
static void put_launches(struct price_answer *a, const double *x, const double *step, size_t n)
{
    struct effect e = mean_of(x, n);
    a->none = shorter(&e);
    a->noise = (a->none.hi - a->none.lo) / 2;
    a->step_s = exp(stats_mean(step, n));
    a->launches = (int)n;
    a->known = true;
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
    if (n >= 2)
        put_launches(a, x, step, n);
    a->known = n >= 2 ? left_out(all) : a->known;
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
    if (a->blocks && a->launches)
        text_addf(&t, ", in %d launches", a->launches);
    text_add(&t, ".");
    bool longer = a->half.value < 0; /* 0 - x: as in shorter() */
    if (!isnan(a->half.value))
        text_addf(&t, " With half the bytes the step is %.1f%% [%.1f, %.1f] %s.",
                  100 * fabs(a->half.value), 100 * (longer ? 0 - a->half.hi : a->half.lo),
                  100 * (longer ? 0 - a->half.lo : a->half.hi), longer ? "longer" : "shorter");
    if (!isnan(a->waiting.value))
        text_addf(&t, " Waiting and latency, of the rank that waits longest: %.1f%% [%.1f, %.1f].",
                  100 * a->waiting.value, 100 * a->waiting.lo, 100 * a->waiting.hi);
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

/* Launches with communication and without, for a job whose collectives are in a CUDA graph. */
struct pairs {
    double (*log_s)[2]; /* of each launch: with, without; 0: none */
    size_t n;
};

static void take_pair(void *ctx, int launch, const char *label, int copy, double step_s)
{
    struct pairs *p = ctx;
    (void)copy;
    while (launch >= 1 && p->n < (size_t)launch) {
        double(*pair)[2] = &APPEND(p->log_s, p->n);
        (*pair)[0] = (*pair)[1] = (double)NAN;
    }
    if (launch >= 1 && step_s > 0)
        p->log_s[launch - 1][!strcmp(label, "none")] = log(step_s);
}

/* The mean of the log-ratios, and Student's t. */
static int price_of_pairs(struct price_answer *a, const char *dir)
{
    struct pairs p = {0};
    int code = job_recording_read(dir, take_pair, &p);
    AUTO_FREE double *x = xcalloc(p.n + 1, sizeof *x), *with = xcalloc(p.n + 1, sizeof *with);
    size_t n = 0;
    for (size_t i = 0; i < p.n; i++) {
        with[n] = p.log_s[i][0];
        x[n] = p.log_s[i][1] - p.log_s[i][0];
        n += isnan(x[n]) ? 0 : 1;
    }
    free(p.log_s);
    a->half = a->waiting = no_share;
    snprintf(a->why, sizeof a->why,
             "%zu of the launches with and without communication are whole; "
             "2 or more are needed",
             n);
    if (!code && n >= 2)
        put_launches(a, x, with, n);
    return code;
}

int price_read(struct price_answer *a, const char *dir)
{
    struct visits all;
    *a = (struct price_answer){0};
    if (strstr(path_name(dir), "-" JOB_PRICE "-"))
        return price_of_pairs(a, dir);
    int code = job_recording_visits(&all, dir);
    if (!code && all.n)
        price_from(a, &all);
    visits_free(&all);
    return code;
}
