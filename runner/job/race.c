/* SPDX-License-Identifier: Apache-2.0 */
#include "job/race.h"

#include "base/stats.h"
#include "job/price.h"

#include <math.h>

static struct effect difference(const struct race *r, enum race_way way, const struct visits *all,
                                size_t a, size_t b)
{
    const char *other = b ? r->set.v[b].label : NULL;
    return way == IN_JOB ? arm_difference(all, r->set.v[a].label, other)
                         : launch_difference(all, r->set.v[a].label, other);
}

/* What counts: one round of launches, whose spread is pooled, or some blocks. */
static bool counts(const struct race_entry *e, enum race_way way)
{
    return e->way == way && e->effect.launches >= (way == IN_JOB ? BLOCKS_LEAVE : 1);
}

size_t race_measure(struct race *r, enum race_way way, const struct visits *all)
{
    size_t best = 0;
    for (size_t i = 1; i < r->set.n; i++) {
        struct race_entry *e = &r->v[i];
        if (!visits_have(all, r->set.v[i].label))
            continue;
        e->way = way;
        e->effect = !r->proofs && all->v[0].launch != all->v[all->n - 1].launch
                        ? arm_over_launches(all, r->set.v[i].label)
                        : difference(r, way, all, i, 0);
        if (e->in[way] && counts(e, way) && (!best || e->effect.value < r->v[best].effect.value))
            best = i;
    }
    return best;
}

/* The smallest gain that matters, as a logarithm below 0: `worth`, or the smallest gain that the proof can show, if that
 * is larger. The proof compares each start of the winner with the mean of two starts of the job as it is. */
static double wanted(const struct race *r, enum race_way way, const struct visits *all)
{
    double df, sd = way == IN_LAUNCHES ? launches_spread(all, &df) : 0, n = (double)r->proofs;
    return fmin(log1p(-r->worth),
                n > 1 ? -student_quantile(0.025, n - 1) * sd * sqrt(0.75 / n) : 0);
}

bool race_judge(struct race *r, enum race_way way, const struct visits *all)
{
    double gain = wanted(r, way, all);
    size_t best = race_measure(r, way, all), rivals = 0;
    for (size_t i = 1; i < r->set.n; i++) {
        struct race_entry *e = &r->v[i];
        if (!e->in[way])
            continue;
        double apart =
            best && i != best && counts(e, way) ? difference(r, way, all, i, best).lo : (double)NAN;
        if (counts(e, way))
            e->in[way] = !(e->effect.lo > gain) && !(apart > 0);
        rivals += e->in[way] && i != best && !(apart > gain);
    }
    return !race_left(r, way) || (!rivals && best && r->v[best].effect.hi < 0 &&
                                  (way == IN_LAUNCHES || r->v[best].effect.launches >= BLOCKS_MIN));
}

size_t race_left(const struct race *r, enum race_way way)
{
    size_t n = 0;
    for (size_t i = 1; i < r->set.n; i++)
        n += r->v[i].in[way];
    return n;
}

size_t race_winner(struct race *r, enum race_way way, const struct visits *all)
{
    size_t best = race_measure(r, way, all), win = best;
    if (!best || !(r->v[best].effect.value < log1p(-r->worth)))
        return 0;
    for (size_t i = 1; i < r->set.n; i++) {
        if (i == best || !r->v[i].in[way] || !counts(&r->v[i], way) ||
            r->set.v[i].weight >= r->set.v[win].weight)
            continue;
        struct effect d = difference(r, way, all, i, best);
        if (d.lo < 0 && d.value < r->worth)
            win = i;
    }
    return win;
}

size_t race_best_open(const struct race *r)
{
    size_t best = 0;
    for (size_t i = 1; i < r->set.n; i++) {
        const struct race_entry *e = &r->v[i];
        if (e->in[e->way] && counts(e, e->way) && e->effect.value < 0 &&
            e->effect.lo < log1p(-r->worth) && (!best || e->effect.value < r->v[best].effect.value))
            best = i;
    }
    return best;
}

bool race_proven(const struct effect *e, double floor, double worth)
{
    return e->launches >= 2 && e->hi < -floor && e->value <= log1p(-worth) &&
           e->p_interval < JUDGEMENT_ALPHA;
}
