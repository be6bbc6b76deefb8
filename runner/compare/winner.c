/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/winner.h"

#include "record/recorded.h"

#include <stdlib.h>

const char *winner_config(const struct winner *w)
{
    return w->best ? w->best->config : w->first->baseline;
}

bool winner_is_confirmed(const struct winner *w)
{
    return !w->best && !w->small && !w->counts[VERDICT_INCONCLUSIVE];
}

const char *winner_shown(const struct winner *w)
{
    return w->best || winner_is_confirmed(w) ? winner_config(w) : w->small ? w->small->config : "-";
}

/* ---- the best of a family ---- */

static struct winner *winner_of(struct winners *w, const struct contrast *one, size_t *of_family)
{
    if (!of_family[one->family]) {
        w->v[w->n] = (struct winner){.first = one};
        of_family[one->family] = ++w->n;
    }
    return &w->v[of_family[one->family] - 1];
}

static void find_best(struct winners *w, const struct comparison *c, size_t *of_family)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct contrast *one = &c->v[i];
        struct winner *x = winner_of(w, one, of_family);
        if (one->judgement.verdict == VERDICT_FASTER &&
            (!x->best || one->effect.value < x->best->effect.value))
            x->best = one;
        if (one->judgement.small < 0 && (!x->small || one->effect.value < x->small->effect.value))
            x->small = one;
    }
    for (size_t i = 0; i < w->n; i++)
        if (w->v[i].best)
            w->v[i].small = NULL;
}

/* ---- its rivals ---- */

/* log(rival / best) in the blocks that both share with the baseline. Both are in the order of the
 * recording. */
static struct values relative(const struct values *rival, const struct values *best)
{
    struct values out = {0};
    for (size_t i = 0, k = 0; i < rival->n; i++) {
        const struct nested *x = &rival->v[i];
        while (k < best->n && (best->v[k].launch < x->launch ||
                               (best->v[k].launch == x->launch && best->v[k].block < x->block)))
            k++;
        if (k < best->n && best->v[k].launch == x->launch && best->v[k].block == x->block)
            values_add(&out, (struct nested){x->launch, x->value - best->v[k].value, x->block});
    }
    return out;
}

static void add_rival(struct comparison *rivals, const struct contrast *rival,
                      const struct contrast *best)
{
    bool paired = rival->kind == CONTRAST_PAIRED;
    struct contrast *one = comparison_append(rivals);
    *one = (struct contrast){
        .kind = rival->kind,
        .config = xstrdup(rival->config),
        .ran = xstrdup(rival->ran),
        .same_operation =
            paired && recorded_same_operation(rival->ran, rival->params, best->ran, best->params),
        .seed = rival->seed,
        .stream = ~rival->stream,
        .family = rival->family,
        .bound = rival->bound,
        .no_floor = rival->no_floor};
    one->x = paired ? relative(&rival->x, &best->x) : values_copy(&best->y);
    one->y = paired ? (struct values){0} : values_copy(&rival->y);
    one->aa = values_copy(&rival->aa);
    one->bb = values_copy(&rival->bb);
}

static void count(struct winner *w, const struct contrast *rival)
{
    w->rivals++;
    w->counts[rival->judgement.verdict]++;
    if (rival->judgement.verdict != VERDICT_SLOWER && rival->effect.launches)
        words_add(&w->alike, rival->config);
}

/* Contrasts against the baseline count as they are; the others are computed here. */
static void judge_rivals(struct winners *w, const struct comparison *c, const size_t *of_family,
                         long threads)
{
    AUTO(comparison_free) struct comparison rivals = {.families = c->families};
    for (size_t i = 0; i < c->n; i++) {
        const struct contrast *one = &c->v[i];
        struct winner *x = &w->v[of_family[one->family] - 1];
        if (!x->best)
            count(x, one);
        else if (one != x->best)
            add_rival(&rivals, one, x->best);
    }
    comparison_solve(&rivals, threads);
    for (size_t i = 0; i < rivals.n; i++)
        count(&w->v[of_family[rivals.v[i].family] - 1], &rivals.v[i]);
}

void winners_find(struct winners *w, const struct comparison *c, long threads)
{
    size_t most = c->families;
    for (size_t i = 0; i < c->n; i++)
        most = c->v[i].family > most ? c->v[i].family : most;
    AUTO_FREE size_t *of_family = xcalloc(most + 1, sizeof *of_family);
    *w = (struct winners){.v = xcalloc(c->n + 1, sizeof *w->v)};
    find_best(w, c, of_family);
    judge_rivals(w, c, of_family, threads);
    for (size_t i = 0; i < w->n; i++)
        if (w->v[i].best) { /* the baseline is slower */
            w->v[i].rivals++;
            w->v[i].counts[VERDICT_SLOWER]++;
        }
}

void winners_free(struct winners *w)
{
    for (size_t i = 0; i < w->n; i++)
        words_free(&w->v[i].alike);
    free(w->v);
    *w = (struct winners){0};
}
