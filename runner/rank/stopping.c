/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/stopping.h"

#include "base/stats.h"

/* ---- enough blocks ---- */

#define LEVEL 0.95

void stopping_judge(const struct set_measure *set, struct slot *slots, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct slot *s = &slots[i];
        if (!s->live || !s->blocks)
            continue;
        size_t warmup = stats_warmup(s->medians, s->blocks, WARMUP_OWN(s->blocks)),
               warm = s->blocks - warmup;
        const double *x = s->medians + warmup;
        struct interval ci = stats_median_ci(x, warm, LEVEL);
        bool enough = warm >= SET_LEAST_BLOCKS;
        s->half_width = enough ? (ci.hi - ci.lo) / 2 / stats_median(x, warm) : 0;
        s->converged = enough && ci.coverage >= LEVEL && s->half_width <= set->precision;
    }
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
