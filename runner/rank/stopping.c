/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/stopping.h"

#include "base/stats.h"

/* ---- enough blocks ---- */

#define LEVEL 0.95

static void judge(struct slot *s, double precision)
{
    size_t warmup = stats_warmup(s->medians, s->blocks, WARMUP_OWN(s->blocks)),
           n = s->blocks - warmup;
    const double *x = s->medians + warmup;
    double median = stats_median(x, n);
    struct interval ci = stats_median_ci(x, n, LEVEL);
    s->half_width = n >= SET_LEAST_BLOCKS ? (ci.hi - ci.lo) / 2 / median : 0;
    s->converged = n >= SET_LEAST_BLOCKS && ci.coverage >= LEVEL && s->half_width <= precision;
}

void stopping_judge(const struct set_measure *set, struct slot *slots, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (slots[i].live && slots[i].blocks)
            judge(&slots[i], set->precision);
}

bool stopping_enough(const struct set_measure *set, const struct slot *slots, size_t n, int block,
                     double spent_s)
{
    bool alive = false, converged = true;
    for (size_t i = 0; i < n; i++) {
        alive = alive || slots[i].live;
        converged = converged && (!slots[i].live || slots[i].converged);
    }
    return !alive || block >= set->max_blocks || (block >= set->blocks && converged) ||
           (block >= SET_LEAST_BLOCKS && spent_s >= set->budget);
}

double stopping_half_width(const struct slot *slots, size_t n)
{
    double widest = 0;
    for (size_t i = 0; i < n; i++)
        if (slots[i].live && slots[i].half_width > widest)
            widest = slots[i].half_width;
    return widest;
}
