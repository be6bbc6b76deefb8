/* SPDX-License-Identifier: Apache-2.0 */
#include "job/race.h"

#include "base/stats.h"
#include "base/text.h"
#include "compare/contrast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void race_begin(struct race *r, double worth, int proofs)
{
    *r = (struct race){.worth = worth, .proofs = proofs};
    race_enter(r, 0);
}

size_t race_enter(struct race *r, int weight)
{
    struct race_entry *e = &APPEND(r->v, r->n);
    *e = (struct race_entry){.weight = weight, .effect = NAN, .lo = NAN, .hi = NAN};
    for (size_t i = 0; i < RACE_ROUNDS; i++)
        e->log_s[i] = NAN;
    return r->n - 1;
}

void race_free(struct race *r)
{
    free(r->v);
    *r = (struct race){0};
}

void race_time(struct race *r, int round, size_t entry, double step_s)
{
    if (round >= 0 && round < RACE_ROUNDS && entry < r->n)
        r->v[entry].log_s[round] = log(step_s);
}

void race_failed(struct race *r, size_t entry)
{
    r->v[entry].out = r->v[entry].failed = true;
}

/* ---- effects ---- */

/* The difference to the baseline in a round; NaN: one of the two is missing. */
static double difference(const struct race *r, size_t i, int round)
{
    return r->v[i].log_s[round] - r->v[0].log_s[round];
}

static void find_effect(struct race *r, size_t i)
{
    struct race_entry *e = &r->v[i];
    double sum = 0;
    e->n = 0;
    for (int k = 0; k < RACE_ROUNDS; k++)
        if (!isnan(difference(r, i, k))) {
            sum += difference(r, i, k);
            e->n++;
        }
    e->effect = e->n ? sum / (double)e->n : (double)NAN;
}

/* The spread of a difference within its entry, over all entries. */
static double pool(struct race *r, double *df)
{
    double squares = RACE_PRIOR_DF * 2 * RACE_PRIOR_SD * RACE_PRIOR_SD;
    *df = RACE_PRIOR_DF;
    for (size_t i = 1; i < r->n; i++) {
        for (int k = 0; k < RACE_ROUNDS; k++)
            if (!isnan(difference(r, i, k)))
                squares += pow(difference(r, i, k) - r->v[i].effect, 2);
        *df += r->v[i].n ? (double)r->v[i].n - 1 : 0;
    }
    return sqrt(squares / *df);
}

static size_t shortest(const struct race *r)
{
    size_t best = 0;
    for (size_t i = 1; i < r->n; i++)
        if (!r->v[i].out && !isnan(r->v[i].effect) && (!best || r->v[i].effect < r->v[best].effect))
            best = i;
    return best;
}

/* Half the width of the interval of the difference between two entries. Both contain the baseline of
 * the same rounds, so it is no wider than that of one entry and the baseline. */
static double between(const struct race *r, size_t a, size_t b, double t)
{
    return t * r->sd * sqrt((1.0 / (double)r->v[a].n + 1.0 / (double)r->v[b].n) / 2);
}

/* The smallest gain that matters, as a logarithm below 0: `worth`, or the smallest gain that the proof can show, if that
 * is larger. The proof compares each start of the winner with the mean of two starts of the baseline. */
static double wanted(const struct race *r)
{
    double proof =
        r->proofs > 1 ? student_quantile(0.025, r->proofs - 1) * r->sd * sqrt(0.75 / r->proofs) : 0;
    return fmin(log1p(-r->worth), -proof);
}

void race_judge(struct race *r)
{
    for (size_t i = 0; i < r->n; i++)
        find_effect(r, i);
    r->rounds = (int)r->v[0].n;
    r->sd = pool(r, &r->df);
    double t = student_quantile(0.025, r->df), once = student_quantile(0.05, r->df);
    size_t best = shortest(r);
    for (size_t i = 1; i < r->n; i++) {
        struct race_entry *e = &r->v[i];
        if (!e->n)
            continue;
        double half = r->sd / sqrt((double)e->n);
        e->lo = e->effect - t * half;
        e->hi = e->effect + t * half;
        if (e->effect - once * half > wanted(r) ||
            (i != best && e->effect - r->v[best].effect > between(r, i, best, t)))
            e->out = true;
    }
}

size_t race_left(const struct race *r)
{
    size_t n = 0;
    for (size_t i = 1; i < r->n; i++)
        n += !r->v[i].out;
    return n;
}

size_t race_best_open(const struct race *r)
{
    size_t best = shortest(r);
    return best && r->v[best].lo < log1p(-r->worth) ? best : 0;
}

/* ---- the winner ---- */

static bool is_alike(const struct race *r, size_t i, size_t best)
{
    double apart = r->v[i].effect - r->v[best].effect;
    return apart < between(r, i, best, student_quantile(0.025, r->df)) && apart < r->worth;
}

size_t race_winner(const struct race *r)
{
    size_t best = shortest(r), win = best;
    if (!best || !(r->v[best].effect < log1p(-r->worth)))
        return 0;
    for (size_t i = 1; i < r->n; i++) {
        const struct race_entry *e = &r->v[i];
        bool less = e->weight < r->v[win].weight ||
                    (e->weight == r->v[win].weight && e->effect < r->v[win].effect);
        if (!e->out && e->n && is_alike(r, i, best) && less)
            win = i;
    }
    return win;
}

bool race_decided(const struct race *r)
{
    size_t best = shortest(r), win = race_winner(r);
    bool decided = !race_left(r) || (win && r->v[win].hi < 0);
    for (size_t i = 1; i < r->n && decided && race_left(r); i++) {
        const struct race_entry *e = &r->v[i];
        decided = e->out || i == best ||
                  (e->n && e->effect - r->v[best].effect -
                                   between(r, i, best, student_quantile(0.05, r->df)) >
                               wanted(r));
    }
    return decided;
}

/* ---- the proof ---- */

bool race_proven(const struct effect *e, double floor, double worth)
{
    return e->launches >= 2 && e->hi < -floor && e->value <= log1p(-worth) &&
           e->p_interval < JUDGEMENT_ALPHA;
}
