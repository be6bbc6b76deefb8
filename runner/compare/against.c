/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/against.h"

#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pairs ---- */

static const struct block *same_block(const struct series *s, const struct block *as, size_t *from)
{
    for (; *from < s->n_blocks; ++*from) {
        const struct block *b = &s->blocks[*from];
        if (b->launch == as->launch && b->number == as->number)
            return b;
        if (b->launch > as->launch || (b->launch == as->launch && b->number > as->number))
            return NULL;
    }
    return NULL;
}

size_t pass_pairs(const struct group_pass *p, const struct series *a, const struct series *b,
                  size_t origin, struct values *out)
{
    size_t from = 0, zero = 0;
    for (size_t i = 0; i < b->n_blocks; i++) {
        const struct block *y = &b->blocks[i], *x = same_block(a, y, &from);
        if (!x || x->warm || y->warm || origins_of(p->origins, p->r, p->group, y->launch) != origin)
            continue;
        if (x->time_s > 0 && y->time_s > 0)
            values_add(out, y->launch, log(y->time_s / x->time_s));
        else
            zero++;
    }
    return zero;
}

/* ---- baselines ---- */

const char *pass_config(const struct group_pass *p, const struct series *s)
{
    return p->r->cells[s->cell].config;
}

const char *pass_mode(const struct group_pass *p, const struct series *s)
{
    return p->r->cells[s->cell].mode;
}

const struct series *pass_baseline(const struct group_pass *p, const char *mode)
{
    const struct series *first = NULL, *named = NULL, *twice = NULL;
    for (size_t i = 0; i < p->g->n; i++) {
        const struct series *s = &p->g->series[i];
        if (strcmp(pass_mode(p, s), mode) || !*pass_config(p, s))
            continue;
        if (s->copy) {
            twice = twice ? twice : gathered_find(p->g, s->cell, 0);
            continue;
        }
        first = first ? first : s;
        if (!strcmp(pass_config(p, s), p->rules->baseline))
            named = s;
    }
    return twice ? twice : named ? named : first;
}

/* How far s is from the baseline of its mode, over all origins; NaN: nothing in common. */
static double effect_of(const struct group_pass *p, const struct series *base,
                        const struct series *s)
{
    struct values x = {0};
    for (size_t o = 0; o < p->origins->n; o++)
        pass_pairs(p, base, s, o, &x);
    double effect = x.n ? stats_launch_mean(x.v, x.n) : NAN;
    free(x.v);
    return effect;
}

/* The config that is fastest in the mode `of`; NULL: no such mode, or no numbers of it. One that ran
 * the same operation as the baseline is the baseline under another name. */
static const char *best_config(const struct group_pass *p, const char *of)
{
    const struct series *base = pass_baseline(p, of);
    if (!base || !series_status(p->r, base).numbers)
        return NULL;
    const char *best = pass_config(p, base);
    double least = 0;
    for (size_t i = 0; i < p->g->n; i++) {
        const struct series *s = &p->g->series[i];
        if (s->copy || s == base || strcmp(pass_mode(p, s), of) || !*pass_config(p, s) ||
            recorded_same_operation(p->r->cells[s->cell].ran, p->r->cells[base->cell].ran))
            continue;
        double effect = effect_of(p, base, s);
        if (effect < least)
            least = effect, best = pass_config(p, s);
    }
    return best;
}

const struct series *pass_against(const struct group_pass *p, const char *mode)
{
    if (!p->best_of)
        return pass_baseline(p, mode);
    const char *best = strcmp(mode, p->best_of) ? best_config(p, p->best_of) : NULL;
    for (size_t i = 0; i < p->g->n && best; i++) {
        const struct series *s = &p->g->series[i];
        if (!s->copy && !strcmp(pass_mode(p, s), mode) && !strcmp(pass_config(p, s), best))
            return s;
    }
    return NULL;
}
