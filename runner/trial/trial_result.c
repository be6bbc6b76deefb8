/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/trial_result.h"

#include "base/err.h"
#include "base/student.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BASELINE "auto"

static double step_s(const struct trial_visit *v)
{
    return (double)v->most_ns / (double)(v->steps - 1) / 1e9;
}

static const struct trial_visit *find(const struct trial_comm *c, int64_t block, const char *arm,
                                      int64_t copy)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->visits[i].block == block && c->visits[i].copy == copy &&
            !strcmp(c->visits[i].arm, arm))
            return &c->visits[i];
    return NULL;
}

/* The log-ratios of the blocks that have both; the caller frees. */
static double *ratios(const struct trial_comm *c, const char *arm, int64_t copy, size_t *n,
                      double *unavailable)
{
    double *x = xcalloc(c->n + 1, sizeof *x), calls = 0, without = 0;
    *n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct trial_visit *v = &c->visits[i], *base;
        if (strcmp(v->arm, arm) || v->copy != copy || !(base = find(c, v->block, BASELINE, 0)))
            continue;
        x[(*n)++] = log(step_s(v) / step_s(base));
        calls += (double)v->calls;
        without += (double)v->unavailable;
    }
    *unavailable = calls > 0 ? without / calls : 0;
    return x;
}

struct trial_effect trial_effect(const struct trial_comm *c, const char *arm, int64_t copy)
{
    struct trial_effect e = {.ratio = NAN, .lo = NAN, .hi = NAN};
    double mean = 0, squares = 0;
    size_t n;
    double *x = ratios(c, arm, copy, &n, &e.unavailable);
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    free(x);
    e.blocks = n;
    if (n < 2)
        return e;
    double df = (double)n - 1, half = student_quantile(0.025, df) * sqrt(squares / df / (double)n);
    e.ratio = exp(mean);
    e.lo = exp(mean - half);
    e.hi = exp(mean + half);
    return e;
}

static void say_arm(const struct trial_comm *c, const char *arm, int64_t copy)
{
    struct trial_effect e = trial_effect(c, arm, copy);
    const char *name = copy ? "auto again" : arm;
    if (e.unavailable >= 1)
        say("  %-20s not available in this job", name);
    else if (e.blocks < 2)
        say("  %-20s too few blocks: %zu", name, e.blocks);
    else
        say("  %-20s %+6.2f%%  [%+.2f, %+.2f]%s", name, 100 * (e.ratio - 1), 100 * (e.lo - 1),
            100 * (e.hi - 1),
            e.unavailable > 0 ? "  not available for some of the collectives" : "");
}

static bool is_first(const struct trial_comm *c, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (c->visits[k].copy == c->visits[i].copy && !strcmp(c->visits[k].arm, c->visits[i].arm))
            return false;
    return true;
}

void trial_result_say(const struct trial_comm *c)
{
    say("trial: step time against auto, 95%% interval over the blocks of this launch:");
    for (size_t i = 0; i < c->n; i++)
        if (is_first(c, i) && (strcmp(c->visits[i].arm, BASELINE) || c->visits[i].copy))
            say_arm(c, c->visits[i].arm, c->visits[i].copy);
}

/* ---- the best ---- */

/* Beyond what the baseline seems to differ from its own copy, too. */
const char *trial_result_best(const struct trial_comm *c)
{
    const char *best = NULL;
    double least = 1, aa = trial_effect(c, BASELINE, 1).ratio;
    double floor = isnan(aa) ? 1 : exp(-fabs(log(aa)));
    for (size_t i = 0; i < c->n; i++) {
        struct trial_effect e;
        if (!is_first(c, i) || !strcmp(c->visits[i].arm, BASELINE))
            continue;
        e = trial_effect(c, c->visits[i].arm, 0);
        if (e.hi < floor && e.ratio < least) {
            best = c->visits[i].arm;
            least = e.ratio;
        }
    }
    return best;
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

int trial_result_explain(const struct trial_ranks *r)
{
    const struct trial_comm *c = most_calls(r, true), *other = most_calls(r, false);
    if (!c && !other)
        return fail(GS_FAILED, "trial: no rank asked the tuner plugin: NCCL is older than 2.22, or "
                               "made no communicator of two ranks or more");
    if (!c)
        return fail(GS_FAILED,
                    "trial: no communicator has all ranks of the job; give the size of one that "
                    "has its gradients: --ranks %lld",
                    (long long)other->ranks);
    if (c->files < c->ranks)
        return fail(GS_FAILED,
                    "trial: %lld of %lld ranks run without the plugin, or do not see the folder of "
                    "the recordings",
                    (long long)(c->ranks - c->files), (long long)c->ranks);
    if (c->silent_s > 5)
        return fail(GS_FAILED,
                    "trial: NCCL was not asked any more in the last %.0f s of the job, after %lld "
                    "collectives: they were captured in a CUDA graph, where no setting can be "
                    "switched; compare launches of the job instead",
                    c->silent_s, (long long)c->calls);
    if (!c->step)
        return fail(GS_FAILED,
                    "trial: no step was found in %lld collectives: their sequence does not repeat; "
                    "give the number of a step: --calls",
                    (long long)c->calls);
    return fail(GS_FAILED,
                "trial: the job ended before a visit was complete: %lld collectives, %lld of them "
                "a step, %lld visits dropped",
                (long long)c->calls, (long long)c->step_calls, (long long)c->dropped);
}
