/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/trial_taken.h"

#include "base/jsontext.h"
#include "base/text.h"
#include "nccl_tuner/choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOLERANCE 0.01 /* of the calls */

static bool is_of(const struct trial_visit *v, const char *arm, int64_t copy)
{
    return !strcmp(v->arm, arm) && v->copy == copy;
}

/* Of all visits of an arm: {"ring/LL128 ctas=8": calls, ...} */
static json_t *sum(const struct trial_comm *c, const char *arm, int64_t copy, bool expected)
{
    json_t *all = json_object(), *calls;
    const char *key;
    for (size_t i = 0; i < c->n; i++) {
        const struct trial_visit *v = &c->visits[i];
        if (is_of(v, arm, copy))
            json_object_foreach(expected ? v->taken : v->ran, key, calls)
                json_object_set_new(all, key,
                                    json_integer(json_integer_value(json_object_get(all, key)) +
                                                 json_integer_value(calls)));
    }
    return all;
}

static double total(const json_t *sums)
{
    double all = 0;
    const char *key;
    json_t *calls;
    json_object_foreach((json_t *)sums, key, calls) all += (double)json_integer_value(calls);
    return all;
}

char *trial_taken_shares(const struct trial_comm *c, const char *arm, int64_t copy, bool expected)
{
    json_t *sums = sum(c, arm, copy, expected), *calls;
    const char *key;
    struct text t = {0};
    double all = total(sums);
    text_clear(&t);
    json_object_foreach(sums, key, calls)
    {
        text_addf(&t, "%s%s", t.len ? ", " : "", key);
        if (json_object_size(sums) > 1)
            text_addf(&t, " %.0f%%", 100 * (double)json_integer_value(calls) / all);
    }
    json_decref(sums);
    return t.s;
}

/* The share of an arm's calls for which NCCL has what it requests. */
static double available(const struct trial_comm *c, const char *arm, int64_t copy)
{
    double calls = 0, without = 0;
    for (size_t i = 0; i < c->n; i++)
        if (is_of(&c->visits[i], arm, copy)) {
            calls += (double)c->visits[i].calls;
            without += (double)c->visits[i].unavailable;
        }
    return calls > 0 ? 1 - without / calls : 1;
}

/* Whether a key of `ran` is of the pair that was requested; its CTAs, 0: not reported. */
static bool is_pair(const char *key, const struct choice *want, int *ctas)
{
    char algo[32] = "", proto[32] = "";
    *ctas = 0;
    sscanf(key, "%31[^/]/%31s ctas=%d", algo, proto, ctas);
    return (want->algo < 0 || choice_algo(algo) == want->algo) &&
           (want->proto < 0 || choice_proto(proto) == want->proto);
}

static struct trial_taken judge(const json_t *ran, const struct choice *want, double share)
{
    struct trial_taken t = {TAKEN_HONOURED, "honoured"};
    double all = total(ran), pair = 0;
    int ctas, most = 0;
    const char *key;
    json_t *calls;
    json_object_foreach((json_t *)ran, key, calls) if (is_pair(key, want, &ctas))
    {
        pair += (double)json_integer_value(calls);
        most = ctas > most ? ctas : most;
    }
    bool has_pair = want->algo >= 0 || want->proto >= 0;
    if (all == 0 || (!has_pair && want->channels && !most))
        t = (struct trial_taken){TAKEN_UNKNOWN, "unknown: this NCCL does not report what it ran"};
    else if (has_pair && pair / all < share - TOLERANCE)
        t.how = TAKEN_IGNORED;
    else if (want->channels && most && most != want->channels)
        t.how = TAKEN_CLAMPED;
    if (t.how == TAKEN_CLAMPED)
        snprintf(t.text, sizeof t.text, "clamped: NCCL ran %s CTAs, at most %d",
                 most < want->channels ? "fewer" : "more", most);
    return t;
}

struct trial_taken trial_taken(const struct trial_comm *c, const char *arm, int64_t copy)
{
    struct choice want;
    double share = available(c, arm, copy);
    if (!choice_parse(&want, arm) || (want.algo < 0 && want.proto < 0 && !want.channels))
        return (struct trial_taken){TAKEN_HONOURED, "honoured"};
    if (share <= 0)
        return (struct trial_taken){
            TAKEN_UNAVAILABLE,
            "not available: NCCL does not have it for any collective of the step"};
    AUTO_JSON json_t *ran = sum(c, arm, copy, false);
    struct trial_taken t = judge(ran, &want, share);
    if (t.how == TAKEN_IGNORED) {
        AUTO_FREE char *shares = trial_taken_shares(c, arm, copy, false);
        snprintf(t.text, sizeof t.text, "ignored: NCCL ran %s", shares);
    }
    return t;
}

bool trial_taken_counts(const struct trial_taken *t)
{
    return t->how == TAKEN_HONOURED || t->how == TAKEN_UNKNOWN;
}
