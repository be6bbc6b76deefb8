/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/trial_result.h"

#include "base/err.h"
#include "base/text.h"
#include "base/student.h"

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
