/* SPDX-License-Identifier: Apache-2.0 */
#include "job/trial_result.h"

#include "base/err.h"
#include "base/stats.h"
#include "base/text.h"
#include "common/rng.h"
#include "common/choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BASELINE "auto"

/* ---- effects ---- */

double trial_visit_step_s(const struct trial_visit *v)
{
    return (double)v->most_ns / (double)(v->steps - 1) / 1e9;
}

const struct trial_visit *trial_visit_of(const struct trial_comm *c, int64_t block, const char *arm,
                                         int64_t copy)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->visits[i].block == block && c->visits[i].copy == copy &&
            !strcmp(c->visits[i].arm, arm))
            return &c->visits[i];
    return NULL;
}

/* The logarithm of auto's step in a block, the mean of its two visits, for an arm; for auto's second
 * copy that of the first, as in add_pairs() of compare/. NaN: the block lacks it. */
static double base_of(const struct trial_comm *c, const struct trial_visit *v)
{
    const struct trial_visit *base = trial_visit_of(c, v->block, BASELINE, 0), *again = NULL;
    if (!v->copy)
        again = trial_visit_of(c, v->block, BASELINE, 1);
    return !base ? (double)NAN
                 : (log(trial_visit_step_s(base)) + log(trial_visit_step_s(again ? again : base))) /
                       2;
}

bool trial_has_arm(const struct trial_comm *c, const char *arm)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->visits[i].arm, arm))
            return true;
    return false;
}

/* The estimate of a price: the median over blocks, and the interval of its order statistics. A price
 * has few blocks, and other programs on the machine make some of them much slower. A mean counts
 * these, and they are not even: ranks that wait for each other lose more time than ranks that do not
 * communicate. The interval covers the price of the undisturbed job if a fifth of the visits
 * are slow (tests/sim/trial_rates.c), and has no model of the noise. */
struct effect trial_effect_median(const struct nested *x, size_t n)
{
    AUTO_FREE double *v = xcalloc(n + 1, sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = x[i].value;
    struct interval ci = stats_median_ci(v, n, CONTRAST_LEVEL);
    return (struct effect){.value = stats_median(v, n),
                           .lo = ci.lo,
                           .hi = ci.hi,
                           .p_interval = NAN,
                           .launches = (int)n,
                           .blocks = n};
}

struct effect trial_effect(const struct trial_comm *c, const char *arm, int64_t copy, size_t draws)
{
    AUTO_FREE struct nested *x = xcalloc(c->n + 1, sizeof *x);
    struct rng rng;
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct trial_visit *v = &c->visits[i];
        double base;
        if (strcmp(v->arm, arm) || v->copy != copy || isnan(base = base_of(c, v)))
            continue;
        x[n] = (struct nested){.launch = (int)n, .value = log(trial_visit_step_s(v)) - base};
        n++;
    }
    rng_seed(&rng, 1);
    return trial_has_arm(c, "none") ? trial_effect_median(x, n) : effect_paired(x, n, draws, &rng);
}

/* ---- none ---- */

static const struct trial_comm *most_calls(const struct trial_ranks *r, bool takes_part)
{
    const struct trial_comm *most = NULL;
    for (size_t i = 0; i < r->n; i++)
        if (r->v[i].takes_part == takes_part && (!most || r->v[i].calls > most->calls))
            most = &r->v[i];
    return most;
}

/* The same of a price. A killed process says nothing. */
static char *why_unseen(const struct trial_ranks *r)
{
    return xstrdup(
        r->alone      ? "the job has one rank only, so it does not communicate"
        : r->has_nccl ? "no collective of NCCL was seen: the job makes none, or opens NCCL by "
                        "name, as JAX does"
        : r->has_mpi  ? "no collective of MPI was seen: the job makes none of 2 ranks or more"
        : r->has_cuda
            ? "the job uses CUDA but loads no libnccl.so.2: it does not use NCCL, or is linked "
              "to it statically, which cannot be intercepted"
            : "no rank used NCCL or MPI with libgradsync-price.so: the job uses neither, ended "
              "at once, or does not pass on LD_PRELOAD and GRADSYNC_PRICE to its ranks");
}

/* Of ranks that all run with the plugin. */
static char *why_no_visit(const struct trial_comm *c, long given)
{
    int64_t alike = trial_ranks_alike(c);
    if (c->captured)
        return xstrdup(PRICE_CAPTURED);
    if (!c->step && given)
        return xstrfmt("no step of %ld collectives was found in %lld: their sequence does not "
                       "repeat after that number; give another number, or --calls 0 to detect it",
                       given, (long long)c->calls);
    if (!c->step)
        return xstrfmt("no step was found in %lld collectives: their sequence does not repeat; "
                       "give the number of a step: --calls",
                       (long long)c->calls);
    if (alike < c->ranks)
        return xstrfmt("only %lld of %lld ranks found the same step at the same collective, so "
                       "nothing was switched: the ranks see other sequences",
                       (long long)alike, (long long)c->ranks);
    return xstrfmt("the job ended before a visit was complete: %lld collectives, %lld of them a "
                   "step, %lld visits dropped",
                   (long long)c->calls, (long long)c->step_calls, (long long)c->dropped);
}

char *trial_result_why(const struct trial_ranks *r, long given)
{
    const struct trial_comm *c = most_calls(r, true), *other = most_calls(r, false);
    if (!c && !other)
        return why_unseen(r);
    if (!c)
        return xstrfmt("no communicator has all ranks of the job; give the size of one that has "
                       "its gradients: --ranks %lld",
                       (long long)other->ranks);
    if (c->files < c->ranks)
        return xstrfmt("%lld of %lld ranks run without the plugin, or do not see the folder of "
                       "the recordings",
                       (long long)(c->ranks - c->files), (long long)c->ranks);
    return why_no_visit(c, given);
}
