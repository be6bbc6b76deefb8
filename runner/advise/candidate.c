/* SPDX-License-Identifier: Apache-2.0
 *
 * Which settings are advised, and which of them comes first.
 */
#include "advise/advice.h"
#include "compare/winner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool of_shape(const struct evidence *e, size_t shape)
{
    return e->counts && e->run->shape == shape;
}

struct candidate candidate_of(const struct steps_evidence *s, size_t shape, const char *config)
{
    struct candidate c = {.low = INFINITY, .high = -INFINITY};
    for (size_t i = 0; i < s->n; i++) {
        const struct evidence *e = &s->v[i];
        if (!of_shape(e, shape) || strcmp(e->c->config, config) != 0)
            continue;
        c.steps += evidence_has_numbers(e);
        if (e->c->judgement.verdict == VERDICT_SLOWER)
            c.slower = e;
        if (!evidence_wins(e))
            continue;
        c.wins++;
        c.low = fmin(c.low, evidence_gain_low(e));
        c.high = fmax(c.high, evidence_gain_high(e));
        if (!c.best || evidence_gain_low(e) > evidence_gain_low(c.best))
            c.best = e;
    }
    return c;
}

static bool better(const struct evidence *a, const struct evidence *b)
{
    return a->level != b->level ? a->level > b->level : evidence_gain_low(a) > evidence_gain_low(b);
}

void advice_settings(struct words *configs, const struct steps_evidence *s, size_t shape)
{
    for (size_t i = 0; i < s->n; i++) {
        const char *config = s->v[i].c->config;
        if (of_shape(&s->v[i], shape) && evidence_wins(&s->v[i]) &&
            !candidate_of(s, shape, config).slower)
            words_add_once(configs, config);
    }
}

/* ---- of several ---- */

/* The parts of the config that the baseline does not have. */
static size_t changes(const struct contrast *c)
{
    AUTO_WORDS struct words parts = {0};
    size_t n = 0;
    words_split(&parts, c->config, '/');
    for (size_t i = 0; i < parts.n; i++)
        n += !text_lists(c->baseline, "/", parts.v[i]);
    return n;
}

/* The best config of the step and those that are not distinguishable from it. */
static void find_alike(struct words *alike, const struct steps_evidence *s,
                       const struct contrast *of)
{
    struct comparison step = {.families = s->comparison.families};
    AUTO(winners_free) struct winners w = {0};
    for (size_t i = 0; i < s->comparison.n; i++)
        if (s->comparison.v[i].family == of->family)
            APPEND(step.v, step.n) = s->comparison.v[i];
    winners_find(&w, &step, 1);
    for (size_t i = 0; i < w.n; i++) {
        words_add(alike, winner_config(&w.v[i]));
        for (size_t k = 0; k < w.v[i].alike.n; k++)
            words_add(alike, w.v[i].alike.v[k]);
    }
    free(step.v);
}

/* With fewer changes than `first`, at its level and in no fewer steps. */
static bool is_simpler(const struct candidate *c, const struct candidate *first)
{
    return c->best && c->best->level == first->best->level && c->wins >= first->wins &&
           changes(c->best->c) < changes(first->best->c);
}

/* The setting with the fewest changes of those that are not distinguishable in the step of first. */
static struct candidate simplest(const struct steps_evidence *s, size_t shape,
                                 const struct words *configs, const struct candidate *first)
{
    AUTO_WORDS struct words alike = {0};
    struct candidate least = *first;
    for (size_t i = 0; i < configs->n; i++) {
        struct candidate c = candidate_of(s, shape, configs->v[i]);
        if (!is_simpler(&c, first))
            continue;
        if (!alike.n)
            find_alike(&alike, s, first->best->c);
        size_t n = changes(c.best->c), so_far = changes(least.best->c);
        if (words_has(&alike, first->best->c->config) && words_has(&alike, configs->v[i]) &&
            (n < so_far || (n == so_far && better(c.best, least.best))))
            least = c;
    }
    return least;
}

bool advice_find(const struct steps_evidence *s, size_t shape, struct candidate *out)
{
    AUTO_WORDS struct words configs = {0};
    *out = (struct candidate){0};
    advice_settings(&configs, s, shape);
    for (size_t i = 0; i < configs.n; i++) {
        struct candidate c = candidate_of(s, shape, configs.v[i]);
        if (c.best && (!out->best || better(c.best, out->best)))
            *out = c;
    }
    if (out->best)
        *out = simplest(s, shape, &configs, out);
    return out->best;
}
