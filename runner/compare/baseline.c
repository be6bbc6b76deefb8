/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/baseline.h"

#include "base/stats.h"
#include "base/text.h"
#include "config/train_settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- rules ---- */

int compare_rules_read(struct compare_rules *out, const struct recorded *r)
{
    static const char defaults[] = "";
    AUTO_FREE char *path = xstrfmt("%s/config.ini", r->dir);
    bool there = !access(path, F_OK);
    AUTO(config_free_of) struct config *config = NULL;
    struct settings set;
    int code = there ? config_load(&config, path, (const char *const *)r->overrides)
                     : config_from_text(&config, path, defaults, 0, NULL);
    if (!code)
        code = settings_read(config, &set);
    if (!code) {
        /* A training command decides itself how many steps it makes. */
        bool asked = there && !r->imported && strcmp(r->workload, TRAIN_WORKLOAD) != 0;
        *out = (struct compare_rules){.equivalence = set.measure.equivalence,
                                      .blocks = asked ? set.measure.blocks : 1};
        memcpy(out->baseline, set.measure.baseline, sizeof out->baseline);
    }
    return code;
}

static void add_launch(struct text *t, int launch, size_t blocks)
{
    text_addf(t, "%s%d (%zu)", t->len ? ", " : "", launch, blocks);
}

void values_drop_short(struct values *x, int64_t asked, struct contrast *c)
{
    AUTO_TEXT struct text out = {0}, few = {0};
    size_t kept = 0,
           least = asked < 2 * BASELINE_BLOCKS ? (size_t)(asked + 1) / 2 : BASELINE_BLOCKS;
    for (size_t i = 0, end; i < x->n; i = end) {
        for (end = i; end < x->n && x->v[end].launch == x->v[i].launch; end++)
            ;
        size_t blocks = end - i;
        if (blocks < least || 2 * blocks < (size_t)asked)
            add_launch(blocks < least ? &out : &few, x->v[i].launch, blocks);
        if (blocks < least)
            continue;
        memmove(x->v + kept, x->v + i, blocks * sizeof *x->v);
        kept += blocks;
    }
    x->n = kept;
    if (out.len)
        contrast_note(c, "left out, too few blocks: launch %s of %lld", out.s, (long long)asked);
    if (few.len)
        contrast_note(c, "few blocks: launch %s of %lld", few.s, (long long)asked);
}

/* ---- pairs ---- */

/* The logarithm by which the mean of two visits of a block is longer than the first; 0: one visit. */
static double second_visit(const struct series *again, const struct block *first, size_t *from)
{
    const struct block *x = again ? series_block(again, first->launch, first->number, from) : NULL;
    return x && !x->warm ? log(x->time_s / first->time_s) / 2 : 0;
}

void group_pairs(const struct group_pass *p, const struct series *a, const struct series *b,
                 size_t origin, struct values *out)
{
    size_t from = 0, from_a = 0, from_b = 0;
    bool both = a->cell != b->cell && !strcmp(p->r->workload, "trial");
    const struct series *a2 = both ? gathered_find(p->g, a->cell, 1) : NULL;
    const struct series *b2 = both ? gathered_find(p->g, b->cell, 1) : NULL;
    for (size_t i = 0; i < b->n_blocks; i++) {
        const struct block *y = &b->blocks[i], *x = series_block(a, y->launch, y->number, &from);
        if (!x || x->warm || y->warm || origins_of(p->origins, p->r, p->group, y->launch) != origin)
            continue;
        double ratio = log(y->time_s / x->time_s) + second_visit(b2, y, &from_b) -
                       second_visit(a2, x, &from_a);
        values_add(out, (struct nested){y->launch, ratio, y->number});
    }
}

/* ---- baselines ---- */

const char *group_config(const struct group_pass *p, const struct series *s)
{
    return p->r->cells[s->cell].config;
}

const char *group_mode(const struct group_pass *p, const struct series *s)
{
    return p->r->cells[s->cell].mode;
}

const struct series *baseline_of_mode(const struct group_pass *p, const char *mode)
{
    const struct series *first = NULL, *named = NULL, *twice = NULL;
    for (size_t i = 0; i < p->g->n; i++) {
        const struct series *s = &p->g->series[i];
        if (strcmp(group_mode(p, s), mode) || !*group_config(p, s))
            continue;
        if (s->copy) {
            twice = twice ? twice : gathered_find(p->g, s->cell, 0);
            continue;
        }
        first = first ? first : s;
        /* Without a config file, as in a recording of tune, it is the job as it is. */
        if (!strcmp(group_config(p, s), *p->rules->baseline ? p->rules->baseline : "auto"))
            named = s;
    }
    return twice ? twice : named ? named : first;
}

/* The effect of s against the baseline of its mode, over all origins; NaN: no block in common. */
static double effect_of(const struct group_pass *p, const struct series *base,
                        const struct series *s)
{
    struct values x = {0};
    for (size_t o = 0; o < p->origins->n; o++)
        group_pairs(p, base, s, o, &x);
    double effect = x.n ? stats_launch_mean(x.v, x.n) : NAN;
    free(x.v);
    return effect;
}

/* The config that is fastest in the mode `of`; NULL: the mode is missing or has no numbers. A config
 * that ran the same operation as the baseline is the baseline under another name. */
static const char *best_config(const struct group_pass *p, const char *of)
{
    const struct series *base = baseline_of_mode(p, of);
    if (!base || !series_status(p->r, base).numbers)
        return NULL;
    const char *best = group_config(p, base);
    double least = 0;
    for (size_t i = 0; i < p->g->n; i++) {
        const struct series *s = &p->g->series[i];
        if (s->copy || s == base || strcmp(group_mode(p, s), of) || !*group_config(p, s) ||
            recorded_same_operation(p->r->cells[s->cell].ran, p->r->cells[s->cell].params,
                                    p->r->cells[base->cell].ran, p->r->cells[base->cell].params))
            continue;
        double effect = effect_of(p, base, s);
        if (effect < least)
            least = effect, best = group_config(p, s);
    }
    return best;
}

const struct series *baseline_or_best(const struct group_pass *p, const char *mode)
{
    if (!p->best_of && !p->rules->wanted)
        return baseline_of_mode(p, mode);
    const char *config = !p->best_of                ? p->rules->wanted
                         : strcmp(mode, p->best_of) ? best_config(p, p->best_of)
                                                    : NULL;
    for (size_t i = 0; i < p->g->n && config; i++) {
        const struct series *s = &p->g->series[i];
        if (!s->copy && !strcmp(group_mode(p, s), mode) && !strcmp(group_config(p, s), config))
            return s;
    }
    return NULL;
}
