/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/within_run.h"

#include "base/err.h"
#include "base/text.h"
#include "compare/baseline.h"
#include "compare/unpaired.h"
#include "reduce/launches.h"

#include <stdlib.h>
#include <string.h>

/* ---- contrasts ---- */

/* One config of the mode has a second copy; it need not be the baseline of this contrast. */
static void fill(const struct group_pass *p, struct contrast *c, const struct series *base,
                 const struct series *s, size_t origin)
{
    const struct series *twice = baseline_of_mode(p, group_mode(p, s));
    const struct series *copy = gathered_find(p->g, twice->cell, 1);
    c->origin = xstrdup(p->origins->texts[origin]);
    group_pairs(p, base, s, origin, &c->x);
    if (copy)
        group_pairs(p, twice, copy, origin, &c->aa);
    values_drop_short(&c->x, p->rules->blocks, c);
}

static struct contrast *add(const struct group_pass *p, const struct series *base,
                            const struct series *s, size_t family)
{
    const struct rec_cell *cell = &p->r->cells[s->cell], *other = &p->r->cells[base->cell];
    struct contrast *c = comparison_add(p->c, p->r, cell, group_config(p, base));
    free(c->baseline_ran);
    c->baseline_ran = xstrdup(other->ran);
    contrast_differs(c, cell, other);
    c->same_operation = recorded_same_operation(cell->ran, cell->params, other->ran, other->params);
    c->family = family;
    c->bound = p->rules->equivalence;
    AUTO_FREE char *left_out = launches_out_text(p->g);
    if (*left_out)
        contrast_note(c, "%s", left_out);
    return c;
}

/* The origins of the launches of a series, each once; returns how many. */
static size_t origins_among(const struct group_pass *p, const struct series *s, size_t *v)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_blocks; i++) {
        size_t o = origins_of(p->origins, p->r, p->group, s->blocks[i].launch), k = 0;
        if (i && s->blocks[i].launch == s->blocks[i - 1].launch)
            continue;
        while (k < n && v[k] != o)
            k++;
        if (k == n)
            v[n++] = o;
    }
    return n;
}

/* The launches of one origin: "1, 2"; the caller frees it. */
static char *launches_from(const struct group_pass *p, const struct series *s, size_t origin)
{
    struct text t = {0};
    for (size_t i = 0; i < s->n_blocks; i++) {
        int launch = s->blocks[i].launch;
        if ((i == 0 || s->blocks[i - 1].launch != launch) &&
            origins_of(p->origins, p->r, p->group, launch) == origin)
            text_addf(&t, "%s%d", t.len ? ", " : "", launch);
    }
    return t.s ? t.s : xstrdup("");
}

static void note_origins(const struct group_pass *p, struct contrast *c, const struct series *s,
                         const size_t *all, size_t n, size_t mine)
{
    AUTO_FREE char *launches = launches_from(p, s, all[mine]);
    AUTO_FREE char *other =
        origin_difference(p->origins->texts[all[mine]], p->origins->texts[all[mine == 0 ? 1 : 0]]);
    contrast_note(c, "mixed provenance, launches %s of %zu kinds kept apart (%s)", launches, n,
                  other);
    c->stream += mine;
}

static void contrast_series(const struct group_pass *p, const struct series *base,
                            const struct series *s, size_t family)
{
    struct series_status of_base = series_status(p->r, base), of_it = series_status(p->r, s);
    if (!of_base.numbers || !of_it.numbers) {
        struct contrast *c = add(p, base, s, family);
        const struct series_status *o = of_it.numbers ? &of_base : &of_it;
        contrast_note(c, "%s%s: %s", of_it.numbers ? "baseline " : "", o->status, o->why);
        return;
    }
    AUTO_FREE size_t *origins = xmalloc((p->origins->n + 1) * sizeof *origins);
    size_t n = origins_among(p, s, origins);
    for (size_t k = 0; k < n; k++) {
        struct contrast *c = add(p, base, s, family + k);
        if (n > 1)
            note_origins(p, c, s, origins, n, k);
        fill(p, c, base, s, origins[k]);
    }
}

/* Is it the first series of its mode? */
static bool opens_mode(const struct group_pass *p, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(group_mode(p, &p->g->series[k]), group_mode(p, &p->g->series[i])))
            return false;
    return true;
}

static void contrast_group(const struct group_pass *p)
{
    for (size_t m = 0; m < p->g->n; m++) {
        const char *mode = group_mode(p, &p->g->series[m]);
        const struct series *base = opens_mode(p, m) ? baseline_or_best(p, mode) : NULL;
        if (!base)
            continue;
        for (size_t i = 0; i < p->g->n; i++) {
            const struct series *s = &p->g->series[i];
            if (!s->copy && s != base && !strcmp(group_mode(p, s), mode) && *group_config(p, s))
                contrast_series(p, base, s, p->c->families);
        }
        p->c->families += p->origins->n + 1;
    }
}

int compare_recorded(struct comparison *c, const struct recorded *r, const struct gathered *groups,
                     const char *best_of, const char *baseline)
{
    AUTO(origins_free) struct origins origins = {0};
    struct compare_rules rules;
    int code = compare_rules_read(&rules, r);
    if (!code)
        code = origins_read(&origins, r);
    if (code)
        return code;
    rules.wanted = baseline;
    if (r->imported && !best_of)
        compare_unpaired(c, r, groups, &origins, &rules);
    for (size_t i = 0; i < r->n_groups && !r->imported; i++)
        if (r->groups[i].n > 1)
            contrast_group(&(struct group_pass){c, r, &origins, &rules, i, &groups[i], best_of});
    return GS_OK;
}

int compare_within_run(struct comparison *c, const char *dir, const char *best_of,
                       const char *baseline)
{
    AUTO(recorded_free_of) struct recorded *r = NULL;
    struct gathered *groups = NULL;
    int code = recorded_read(&r, dir);
    if (code || !r)
        return code;
    code = gather_run(r, &groups);
    if (!code)
        code = compare_recorded(c, r, groups, best_of, baseline);
    gathered_free_run(r, groups);
    return code;
}
