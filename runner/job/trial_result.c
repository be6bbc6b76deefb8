/* SPDX-License-Identifier: Apache-2.0 */
#include "job/trial_result.h"

#include "base/err.h"
#include "base/stats.h"
#include "base/text.h"
#include "common/rng.h"
#include "nccl_tuner/choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BASELINE "auto"
#define LOOKS 8 /* whether a trial can end: from 6 to 768 blocks */

/* ---- verdicts ---- */

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

static bool same_operation(const struct trial_comm *c, const char *arm, int64_t copy)
{
    AUTO_FREE char *ran = trial_taken_shares(c, arm, copy, false);
    AUTO_FREE char *base = trial_taken_shares(c, BASELINE, 0, false);
    return *ran && !strcmp(ran, base);
}

static bool is_first(const struct trial_comm *c, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (c->visits[k].copy == c->visits[i].copy && !strcmp(c->visits[k].arm, c->visits[i].arm))
            return false;
    return true;
}

static bool counts(const struct trial_verdict *v)
{
    return !v->copy && !v->same_operation && trial_taken_counts(&v->taken) &&
           !trial_arm_is_price(v->arm) && v->effect.launches >= TRIAL_BLOCKS_MIN;
}

/* `looks`: after how many looks at the data a verdict must still have its error rate. An interval
 * of 1 - 0.05/8 is 1.4 times as wide as one of 95%. */
static void judge(struct trial_verdict *v, size_t n, int looks)
{
    const double wider = looks > 1 ? 1.4 : 1;
    double *p = xcalloc(n + 1, sizeof *p), floor = NAN;
    size_t family = 0;
    for (size_t i = 0; i < n; i++) {
        family += counts(&v[i]);
        if (v[i].copy)
            floor = fabs(v[i].effect.value);
    }
    for (size_t i = 0; i < n; i++)
        p[i] = counts(&v[i]) ? fmin(1, looks * judgement_p(&v[i].effect, family)) : NAN;
    contrast_holm(p, n);
    for (size_t i = 0; i < n; i++) {
        struct effect e = v[i].effect;
        e.lo = e.value - wider * (e.value - e.lo);
        e.hi = e.value + wider * (e.hi - e.value);
        v[i].verdict = counts(&v[i]) ? judge_effect(&e, TRIAL_EQUIVALENCE, floor, p[i]).verdict
                                     : VERDICT_INCONCLUSIVE;
    }
    free(p);
}

static size_t verdicts(struct trial_verdict **out, const struct trial_comm *c, size_t draws,
                       int looks)
{
    struct trial_verdict *v = xcalloc(c->n + 1, sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const char *arm = c->visits[i].arm;
        int64_t copy = c->visits[i].copy;
        if (is_first(c, i) && (copy || strcmp(arm, BASELINE)))
            v[n++] = (struct trial_verdict){.arm = arm,
                                            .copy = copy,
                                            .taken = trial_taken(c, arm, copy),
                                            .same_operation = same_operation(c, arm, copy),
                                            .effect = trial_effect(c, arm, copy, draws)};
    }
    judge(v, n, looks);
    *out = v;
    return n;
}

size_t trial_verdicts(struct trial_verdict **v, const struct trial_comm *c, size_t draws)
{
    return verdicts(v, c, draws, 1);
}

bool trial_result_enough(const struct trial_comm *c, size_t *looked_at, size_t draws)
{
    AUTO_FREE struct trial_verdict *v = NULL;
    size_t blocks = 0, open = 0;
    for (size_t i = 0; i < c->n; i++)
        blocks += !c->visits[i].copy && !strcmp(c->visits[i].arm, BASELINE);
    if (blocks < TRIAL_BLOCKS_MIN || blocks < 2 * *looked_at)
        return false;
    *looked_at = blocks;
    size_t n = verdicts(&v, c, draws, LOOKS);
    for (size_t i = 0; i < n; i++)
        open += !v[i].copy && !v[i].same_operation && trial_taken_counts(&v[i].taken) &&
                v[i].verdict == VERDICT_INCONCLUSIVE;
    return open == 0;
}

/* ---- lines ---- */

static const char *word(const struct trial_verdict *v)
{
    if (v->copy)
        return "nothing differs: this is the noise";
    if (trial_arm_is_price(v->arm))
        return ""; /* nobody can set it */
    if (v->same_operation)
        return "same operation as auto";
    return v->verdict == VERDICT_EQUIVALENT ? "equivalent: within 0.5%" : verdict_names[v->verdict];
}

static void say_verdict(const struct trial_verdict *v)
{
    char few[64] = "";
    const char *name = v->copy ? "auto again" : v->arm;
    const struct effect *e = &v->effect;
    if (!trial_taken_counts(&v->taken))
        say("  %-20s %s", name, v->taken.text);
    else if (e->launches < 2)
        say("  %-20s too few blocks: %zu", name, e->blocks);
    else {
        if (!v->copy && !v->same_operation && e->launches < TRIAL_BLOCKS_MIN)
            snprintf(few, sizeof few, "no verdict: %d of %d blocks", e->launches, TRIAL_BLOCKS_MIN);
        const char *what = *few ? few : word(v);
        say("  %-20s %+6.2f%%  [%+.2f, %+.2f]%s%s", name, 100 * expm1(e->value), 100 * expm1(e->lo),
            100 * expm1(e->hi), *what ? "  " : "", what);
    }
}

void trial_result_say(const struct trial_comm *c, int launch)
{
    AUTO_FREE struct trial_verdict *v = NULL;
    size_t n = trial_verdicts(&v, c, CONTRAST_DRAWS);
    AUTO_FREE char *ran = trial_taken_shares(c, BASELINE, 0, false);
    say("trial: launch %d: a step of %lld collectives and %.1f MB; %zu visits, %lld dropped",
        launch, (long long)c->step_calls, (double)c->step_bytes / 1e6, c->n, (long long)c->dropped);
    say("trial: change of the step time against auto, and its 95%% interval, in this launch:");
    if (*ran && strcmp(ran, choice_part_name(PART_ALL)))
        say("  %-20s NCCL ran %s", BASELINE, ran);
    for (size_t i = 0; i < n; i++)
        say_verdict(&v[i]);
    for (size_t i = 0; i < n; i++)
        if (v[i].taken.how == TAKEN_UNKNOWN) {
            say("trial: it is not known whether NCCL took these settings: it does not report what "
                "it ran (NCCL 2.27 or newer does, unless NCCL_PROFILER_PLUGIN names another "
                "plugin)");
            break;
        }
}

const char *trial_result_best(const struct trial_comm *c)
{
    AUTO_FREE struct trial_verdict *v = NULL;
    const char *best = NULL;
    double least = 0;
    size_t n = trial_verdicts(&v, c, CONTRAST_DRAWS);
    for (size_t i = 0; i < n; i++)
        if (v[i].verdict == VERDICT_FASTER && v[i].effect.value < least) {
            best = v[i].arm;
            least = v[i].effect.value;
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

/* No rank has asked the plugin. */
static char *why_unasked(const struct trial_ranks *r)
{
    long long major = r->nccl / 10000, minor = r->nccl / 100 % 100, patch = r->nccl % 100;
    if (r->loaded && r->nccl && r->nccl < 22200)
        return xstrfmt("this is NCCL %lld.%lld.%lld; a trial needs 2.22 or newer: use gradsync "
                       "train",
                       r->nccl < 10000 ? r->nccl / 1000 : major, minor, patch);
    return xstrdup(r->loaded
                       ? "NCCL loaded the tuner plugin but never called it: NCCL is older than "
                         "2.22, or made no communicator of two ranks or more"
                       : "no rank loaded the tuner plugin: the command uses no NCCL, or does not "
                         "pass on NCCL_TUNER_PLUGIN and GRADSYNC_TRIAL to its ranks");
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
static char *why_no_visit(const struct trial_comm *c, long given, bool price)
{
    int64_t alike = trial_ranks_alike(c);
    if (price && c->captured)
        return xstrdup(PRICE_CAPTURED);
    if (!price && (c->captured || c->silent_s > 5 || c->n))
        return xstrdup(TRIAL_CAPTURED);
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
                       "nothing was switched: the ranks see other sequences%s",
                       (long long)alike, (long long)c->ranks, price ? "" : "; use gradsync train");
    return xstrfmt("the job ended before a visit was complete: %lld collectives, %lld of them a "
                   "step, %lld visits dropped",
                   (long long)c->calls, (long long)c->step_calls, (long long)c->dropped);
}

char *trial_result_why(const struct trial_ranks *r, long given, bool price)
{
    const struct trial_comm *c = most_calls(r, true), *other = most_calls(r, false);
    if (!c && !other)
        return price ? why_unseen(r) : why_unasked(r);
    if (!c)
        return xstrfmt("no communicator has all ranks of the job; give the size of one that has "
                       "its gradients: --ranks %lld",
                       (long long)other->ranks);
    if (c->files < c->ranks)
        return xstrfmt("%lld of %lld ranks run without the plugin, or do not see the folder of "
                       "the recordings",
                       (long long)(c->ranks - c->files), (long long)c->ranks);
    return why_no_visit(c, given, price);
}
