/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/unpaired.h"

#include "base/err.h"
#include "base/text.h"
#include "compare/alike.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct unpaired_cell { /* the launches of a cell that have one origin */
    const struct rec_cell *cell;
    char *params; /* all parameters but those of the config; owned */
    size_t origin;
    struct values x; /* log-times */
    struct series_status outcome;
};

struct pass {
    struct comparison *c;
    const struct recorded *r;
    const struct origins *origins;
    const struct compare_rules *rules;
    struct unpaired_cell *cells;
    size_t n;
};

/* ---- cells ---- */

static struct unpaired_cell *add_cell(struct pass *p, const struct rec_cell *cell, size_t origin,
                                      const struct series_status *o)
{
    ALLOC_MORE(p->cells, p->n);
    struct unpaired_cell *one = &p->cells[p->n++];
    *one = (struct unpaired_cell){.cell = cell,
                                  .params = alike_without(cell->params, alike_config),
                                  .origin = origin,
                                  .outcome = *o};
    return one;
}

static void take_series(struct pass *p, const struct series *s)
{
    const struct rec_cell *cell = &p->r->cells[s->cell];
    struct series_status o = series_status(p->r, s);
    size_t first = p->n;
    if (!o.numbers)
        add_cell(p, cell, p->origins->n, &o);
    for (size_t i = 0; i < s->n_blocks && o.numbers; i++) {
        const struct block *b = &s->blocks[i];
        size_t origin = origins_of(p->origins, p->r, cell->group, b->launch), k = first;
        while (k < p->n && p->cells[k].origin != origin)
            k++;
        struct unpaired_cell *one = k < p->n ? &p->cells[k] : add_cell(p, cell, origin, &o);
        if (!b->warm && b->time_s > 0)
            values_add(&one->x, (struct nested){b->launch, log(b->time_s), b->number});
    }
}

static bool alike(const struct unpaired_cell *a, const struct unpaired_cell *b)
{
    return a->cell->size_B == b->cell->size_B && !strcmp(a->cell->mode, b->cell->mode) &&
           !strcmp(a->params, b->params);
}

/* ---- contrasts ---- */

/* The config that the rules name, else the first. NULL: the wanted one was not measured. */
static const char *baseline_of(const struct pass *p)
{
    const char *named = p->rules->wanted ? p->rules->wanted : p->rules->baseline;
    for (size_t i = 0; i < p->n; i++)
        if (!strcmp(p->cells[i].cell->config, named))
            return named;
    if (p->rules->wanted)
        return NULL;
    return p->n ? p->cells[0].cell->config : "";
}

/* The baseline's cell with the same parameters, of the same origin if possible; NULL: none. */
static const struct unpaired_cell *counterpart(const struct pass *p, const char *baseline,
                                               const struct unpaired_cell *of)
{
    const struct unpaired_cell *any = NULL;
    for (size_t i = 0; i < p->n; i++) {
        const struct unpaired_cell *a = &p->cells[i];
        if (strcmp(a->cell->config, baseline) || !alike(a, of))
            continue;
        any = any ? any : a;
        if (a->origin == of->origin)
            return a;
    }
    return any;
}

static void note_difference(const struct pass *p, struct contrast *one,
                            const struct unpaired_cell *a, const struct unpaired_cell *b)
{
    AUTO_FREE char *other =
        origin_difference(p->origins->texts[a->origin], p->origins->texts[b->origin]);
    contrast_note(one, "mixed provenance, kept apart: no launch of %s like these (%s)",
                  a->cell->config, other);
}

static void add_contrast(const struct pass *p, const char *baseline, const struct unpaired_cell *b)
{
    const struct unpaired_cell *a = counterpart(p, baseline, b);
    struct contrast *one = comparison_add(p->c, p->r, b->cell, baseline);
    one->kind = CONTRAST_UNPAIRED;
    one->no_floor = true;
    one->bound = p->rules->equivalence;
    one->stream += b->origin;
    if (!b->outcome.numbers)
        contrast_note(one, "%s: %s", b->outcome.status, b->outcome.why);
    else if (!a)
        contrast_note(one, "not measured with %s", baseline);
    else if (!a->outcome.numbers)
        contrast_note(one, "baseline %s: %s", a->outcome.status, a->outcome.why);
    else if (a->origin != b->origin)
        note_difference(p, one, a, b);
    if (one->note)
        return;
    one->x = values_copy(&a->x);
    one->y = values_copy(&b->x);
    contrast_note(one, "launched apart");
}

/* The index of the first cell with the same parameters names the family. */
static size_t family_of(const struct pass *p, size_t i)
{
    size_t k = 0;
    while (k < i && !alike(&p->cells[k], &p->cells[i]))
        k++;
    return k;
}

void compare_unpaired(struct comparison *c, const struct recorded *r, const struct gathered *groups,
                      const struct origins *origins, const struct compare_rules *rules)
{
    struct pass p = {c, r, origins, rules, NULL, 0};
    for (size_t i = 0; i < r->n_groups; i++)
        for (size_t k = 0; k < groups[i].n; k++)
            if (!groups[i].series[k].copy)
                take_series(&p, &groups[i].series[k]);
    const char *baseline = baseline_of(&p);
    for (size_t i = 0; i < p.n && baseline; i++) {
        if (!strcmp(p.cells[i].cell->config, baseline))
            continue;
        add_contrast(&p, baseline, &p.cells[i]);
        c->v[c->n - 1].family = c->families + family_of(&p, i);
    }
    c->families += p.n;
    for (size_t i = 0; i < p.n; i++) {
        free(p.cells[i].params);
        free(p.cells[i].x.v);
    }
    free(p.cells);
}
