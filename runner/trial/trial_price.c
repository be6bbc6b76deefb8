/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/trial_price.h"

#include "base/err.h"
#include "base/program_dir.h"
#include "base/stats.h"
#include "base/text.h"
#include "trial/trial_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOISY 0.02      /* half the width of an interval */
#define CLOSE 0.005     /* so is an interval narrow enough: in the step, */
#define CLOSE_PART 0.03 /* or in the price */

char *price_find_object(const char *who, const char *name)
{
    AUTO_FREE char *beside = xstrfmt("%s/%s", program_dir(), name);
    AUTO_FREE char *installed = xstrfmt("%s/../lib/gradsync/%s", program_dir(), name);
    if (!access(beside, R_OK))
        return xstrdup(beside);
    if (!access(installed, R_OK))
        return xstrdup(installed);
    fail(GS_CANNOT, "%s: %s is not beside gradsync in %s; build it with 'make all'", who, name,
         program_dir());
    return NULL;
}

char *price_library(void)
{
    return price_find_object("price", "libgradsync-price.so");
}

/* ---- shares ---- */

/* A logarithm of the step against auto. */
static struct price_share shorter(const struct effect *e)
{
    return (struct price_share){-expm1(e->value), -expm1(e->hi), -expm1(e->lo)};
}

static struct price_share of_arm(const struct trial_comm *c, const char *arm, int64_t copy,
                                 size_t draws)
{
    struct effect e = trial_effect(c, arm, copy, draws);
    return shorter(&e);
}

/* A rank's step in a visit. */
static double rank_s(const struct trial_visit *v, int64_t rank)
{
    return (double)v->rank_ns[rank] / (double)(v->steps - 1) / 1e9;
}

/* Between two arms of a block, as shares of auto's step there: of one rank, or of the slowest (-1). */
static size_t differences(struct nested *x, const struct trial_comm *c, const char *more,
                          const char *less, int64_t rank)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct trial_visit *a = &c->visits[i], *b;
        const struct trial_visit *base = trial_visit_of(c, a->block, "auto", 0);
        if (strcmp(a->arm, more) || a->copy || !base || !(b = trial_visit_of(c, a->block, less, 0)))
            continue;
        double d = rank < 0 ? trial_step_s(a) - trial_step_s(b) : rank_s(a, rank) - rank_s(b, rank);
        x[n] = (struct nested){.launch = (int)n, .value = d / trial_step_s(base)};
        n++;
    }
    return n;
}

static struct price_share between(const struct trial_comm *c, const char *more, const char *less,
                                  int64_t rank, size_t draws)
{
    AUTO_FREE struct nested *x = xcalloc(c->n + 1, sizeof *x);
    struct rng rng;
    size_t n = differences(x, c, more, less, rank);
    rng_seed(&rng, 1);
    struct effect e = effect_paired(x, n, draws, &rng);
    return (struct price_share){e.value, e.lo, e.hi};
}

/* Without communication a rank that is early does not wait, so the one that waits longest gains most. */
static int64_t waits_longest(const struct trial_comm *c)
{
    AUTO_FREE struct nested *x = xcalloc(c->n + 1, sizeof *x);
    AUTO_FREE double *v = xcalloc(c->n + 1, sizeof *v);
    int64_t longest = 0;
    double most = -INFINITY;
    for (int64_t rank = 0; rank < c->ranks; rank++) {
        size_t n = differences(x, c, "one", "none", rank);
        for (size_t i = 0; i < n; i++)
            v[i] = x[i].value;
        double median = stats_median(v, n);
        if (median > most) {
            most = median;
            longest = rank;
        }
    }
    return longest;
}

static double step_of(const struct trial_comm *c)
{
    AUTO_FREE double *v = xcalloc(c->n + 1, sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->visits[i].arm, "auto"))
            v[n++] = trial_step_s(&c->visits[i]);
    return stats_median(v, n);
}

static bool has(const struct trial_comm *c, const char *arm)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->visits[i].arm, arm))
            return true;
    return false;
}

/* A collective that none left out. */
static bool left_out(const struct trial_comm *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->visits[i].arm, "none") && json_object_get(c->visits[i].ran, "none"))
            return true;
    return false;
}

bool price_from(struct price_answer *a, const struct trial_comm *c, size_t draws)
{
    *a = (struct price_answer){.captured = c->captured, .step_s = step_of(c)};
    a->calls = (long long)c->step_calls;
    a->bytes = (double)c->step_bytes;
    if (!has(c, "none"))
        return false;
    struct effect e = trial_effect(c, "none", 0, draws);
    a->blocks = e.launches;
    a->none = shorter(&e);
    a->one = of_arm(c, "one", 0, draws);
    a->half = of_arm(c, "half", 0, draws);
    a->again = of_arm(c, "auto", 1, draws);
    a->transfer = between(c, "auto", "one", -1, draws);
    a->waiting = between(c, "one", "none", waits_longest(c), draws);
    a->noise = (a->none.hi - a->none.lo) / 2;
    a->known = a->blocks >= TRIAL_BLOCKS_MIN && left_out(c);
    if (!left_out(c))
        snprintf(a->why, sizeof a->why,
                 "price: no collective of the step has 64 KiB or more; smaller ones are never left "
                 "out");
    else if (!a->known)
        snprintf(
            a->why, sizeof a->why,
            "price: the job ended, or the time was over, after %d of the %d blocks that a price "
            "needs",
            a->blocks, TRIAL_BLOCKS_MIN);
    return true;
}

bool price_enough(const struct price_answer *a)
{
    double half = (a->half.hi - a->half.lo) / 2;
    double narrow = fmax(CLOSE, CLOSE_PART * fabs(a->none.value));
    return a->known && a->noise <= narrow && half <= 2 * narrow;
}

/* ---- words ---- */

void price_say(const struct price_answer *a)
{
    if (!a->known) {
        if (*a->why)
            say("%s", a->why);
        return;
    }
    say("price: communication costs %.1f%% [%.1f, %.1f] of the step (%.3g of %.3g ms)",
        100 * a->none.value, 100 * a->none.lo, 100 * a->none.hi, 1e3 * a->none.value * a->step_s,
        1e3 * a->step_s);
    if (!isnan(a->half.value))
        say("price: with half the bytes the step is %.1f%% [%.1f, %.1f] shorter",
            100 * a->half.value, 100 * a->half.lo, 100 * a->half.hi);
    if (!isnan(a->waiting.value))
        say("price: waiting for other ranks, on the rank that waits longest: %.1f%% [%.1f, %.1f] "
            "(%.3g ms)",
            100 * a->waiting.value, 100 * a->waiting.lo, 100 * a->waiting.hi,
            1e3 * a->waiting.value * a->step_s);
    if (a->noise > NOISY)
        say("price: this job's steps vary, so a difference of less than %.1f%% cannot be seen; a "
            "likely reason is the host: see whether a smaller batch makes the step shorter",
            100 * a->noise);
}

void price_free(struct price_answer *a)
{
    free(a->run);
    *a = (struct price_answer){0};
}
