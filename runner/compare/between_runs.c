/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/between_runs.h"

#include "base/err.h"
#include "base/text.h"
#include "compare/baseline.h"
#include "record/runs.h"
#include "reduce/gather.h"
#include "reduce/launches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a set of runs ---- */

struct run_pass {
    struct run_set *set;
    const struct recorded *r;
    const struct origins *origins;
    struct compare_rules rules;
    size_t group;
};

/* The origin of most launches of the series. *others: the launches of other origins. */
static size_t main_origin(const struct run_pass *p, const struct series *s, size_t *others)
{
    AUTO_FREE size_t *count = xcalloc(p->origins->n + 1, sizeof *count);
    size_t best = 0, all = 0;
    for (size_t i = 0; i < s->n_blocks; i++)
        if (i == 0 || s->blocks[i].launch != s->blocks[i - 1].launch) {
            count[origins_of(p->origins, p->r, p->group, s->blocks[i].launch)]++;
            all++;
        }
    for (size_t o = 0; o < p->origins->n; o++)
        best = count[o] > count[best] ? o : best;
    *others = all - count[best];
    return best;
}

static void add_values(const struct run_pass *p, struct set_cell *c, const struct series *s,
                       size_t origin)
{
    struct contrast say = {0};
    for (size_t i = 0; i < s->n_blocks; i++) {
        const struct block *b = &s->blocks[i];
        if (b->warm || origins_of(p->origins, p->r, p->group, b->launch) != origin)
            continue;
        values_add(&c->x, (struct nested){b->launch, log(b->time_s), b->number});
    }
    values_drop_short(&c->x, p->rules.blocks, &say);
    c->note = say.note;
}

static void add_floor(const struct run_pass *p, struct set_cell *c, const struct gathered *g,
                      const struct series *s, size_t origin)
{
    const struct group_pass pass = {
        .r = p->r, .origins = p->origins, .rules = &p->rules, .group = p->group, .g = g};
    const struct series *base = baseline_of_mode(&pass, group_mode(&pass, s));
    const struct series *copy = base ? gathered_find(g, base->cell, 1) : NULL;
    if (copy)
        group_pairs(&pass, base, copy, origin, &c->aa);
}

static void add_cell(const struct run_pass *p, const struct gathered *g, const struct series *s)
{
    struct run_set *set = p->set;
    size_t others, origin;
    if (s->copy || !series_status(p->r, s).numbers)
        return;
    origin = main_origin(p, s, &others);
    ALLOC_MORE(set->cells, set->n);
    struct set_cell *c = &set->cells[set->n++];
    *c = (struct set_cell){.r = p->r,
                           .cell = &p->r->cells[s->cell],
                           .origin = p->origins->texts[origin],
                           .bound = p->rules.equivalence};
    add_values(p, c, s, origin);
    add_floor(p, c, g, s, origin);
    AUTO_FREE char *left_out = launches_out_text(g);
    if (*left_out) {
        struct contrast say = {.note = c->note};
        contrast_note(&say, "%s: %s", p->r->run_id, left_out);
        c->note = say.note;
    }
    if (others) {
        struct contrast say = {.note = c->note};
        contrast_note(&say, "mixed provenance in %s: %zu launches of another kind are left out",
                      p->r->run_id, others);
        c->note = say.note;
    }
}

static int add_run(struct run_set *s, const char *dir)
{
    struct recorded *r;
    int code = recorded_read(&r, dir);
    if (code || !r)
        return code;
    struct origins *o = &s->origins[s->n_runs];
    struct run_pass p = {.set = s, .r = r, .origins = o};
    s->runs[s->n_runs++] = r;
    code = compare_rules_read(&p.rules, r);
    if (!code)
        code = origins_read(o, r);
    for (p.group = 0; p.group < r->n_groups && !code; p.group++) {
        struct gathered g;
        code = gather_group(r, p.group, &g);
        for (size_t i = 0; i < g.n && !code; i++)
            add_cell(&p, &g, &g.series[i]);
        gathered_free(r, &g);
    }
    return code;
}

int run_set_read(struct run_set *s, const char *root)
{
    AUTO(runs_free) struct runs runs = {0};
    *s = (struct run_set){0};
    int code = runs_below(&runs, &root, 1);
    s->runs = xcalloc(runs.n + 1, sizeof(struct recorded *));
    s->origins = xcalloc(runs.n + 1, sizeof *s->origins);
    for (size_t i = 0; i < runs.n && !code; i++)
        code = add_run(s, runs.v[i].dir);
    return code;
}

void run_set_free(struct run_set *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->cells[i].x.v);
        free(s->cells[i].aa.v);
        free(s->cells[i].note);
    }
    for (size_t i = 0; i < s->n_runs; i++) {
        origins_free(&s->origins[i]);
        recorded_free(s->runs[i]);
    }
    free(s->cells);
    free(s->origins);
    free(s->runs);
    *s = (struct run_set){0};
}

/* ---- both ---- */

static bool same_cell(const struct set_cell *a, const struct set_cell *b)
{
    return a->cell->size_B == b->cell->size_B && !strcmp(a->cell->config, b->cell->config) &&
           !strcmp(a->cell->mode, b->cell->mode) && !strcmp(a->cell->params, b->cell->params) &&
           !strcmp(a->r->workload, b->r->workload) && !strcmp(a->r->label, b->r->label);
}

/* The cell of the latest run, which is the last. */
static const struct set_cell *counterpart(const struct run_set *s, const struct set_cell *of)
{
    for (size_t i = s->n; i-- > 0;)
        if (same_cell(&s->cells[i], of))
            return &s->cells[i];
    return NULL;
}

/* "ranks 4 | 2, nccl 2.28.3 | 2.29.1"; "": no difference. The caller frees it. */
static char *difference(const struct set_cell *a, const struct set_cell *b)
{
    const struct {
        const char *name;
        int64_t a, b;
    } counts[] = {{"ranks", a->r->ranks, b->r->ranks}, {"nodes", a->r->nodes, b->r->nodes}};
    struct text t = {0};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].a != counts[i].b)
            text_addf(&t, "%s%s %lld | %lld", t.len ? ", " : "", counts[i].name,
                      (long long)counts[i].a, (long long)counts[i].b);
    AUTO_FREE char *origin = origin_difference(a->origin, b->origin);
    text_addf(&t, "%s%s", t.len && *origin ? ", " : "", origin);
    return t.s;
}

static void add_contrast(struct comparison *c, const struct set_cell *a, const struct set_cell *b)
{
    AUTO_FREE char *name = strcmp(a->r->platform, b->r->platform)
                               ? xstrfmt("%s/%s", a->r->platform, a->r->run_id)
                               : xstrdup(a->r->run_id);
    struct contrast *one = comparison_add(c, b->r, b->cell, name);
    one->kind = CONTRAST_UNPAIRED;
    one->bound = b->bound;
    one->x = values_copy(&a->x);
    one->y = values_copy(&b->x);
    one->aa = values_copy(&a->aa);
    one->bb = values_copy(&b->aa);
    const char *const notes[] = {a->note, b->note};
    for (size_t i = 0; i < 2; i++)
        if (notes[i])
            contrast_note(one, "%s", notes[i]);
    if (!a->aa.n || !b->aa.n)
        contrast_note(one, "no A/A floor in %s", !a->aa.n ? a->r->run_id : b->r->run_id);
    if (!strcmp(a->r->run_id, b->r->run_id))
        contrast_note(one, "the same recording on both sides");
    free(one->baseline_ran);
    one->baseline_ran = xstrdup(a->cell->ran);
    AUTO_FREE char *other = difference(a, b);
    if (*other)
        contrast_note(one, "not alike: %s", other);
    if (*one->ran && *one->baseline_ran && strcmp(one->ran, one->baseline_ran) != 0)
        contrast_note(one, "not the same operation: %s | %s", one->baseline_ran, one->ran);
}

/* The index of the first cell of the same group and mode names the family. */
static size_t family_of(const struct run_set *s, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (s->cells[k].r == s->cells[i].r && s->cells[k].cell->group == s->cells[i].cell->group &&
            !strcmp(s->cells[k].cell->mode, s->cells[i].cell->mode))
            return k;
    return i;
}

static int match(struct comparison *c, const struct run_set *a, const struct run_set *b,
                 const char *A, const char *B)
{
    size_t alone = 0;
    for (size_t i = 0; i < b->n; i++) {
        const struct set_cell *y = &b->cells[i];
        const struct set_cell *x = counterpart(b, y) == y ? counterpart(a, y) : NULL;
        if (x) {
            add_contrast(c, x, y);
            c->v[c->n - 1].family = family_of(b, i);
        }
        alone += !x && counterpart(b, y) == y;
    }
    if (!c->n)
        return fail(GS_USAGE,
                    "%s and %s have no cell in common: workload, label, config, mode, size "
                    "and parameters must be equal",
                    A, B);
    if (alone)
        say("%zu cells of %s are not in %s", alone, B, A);
    return GS_OK;
}

int compare_between_runs(struct comparison *c, const char *a, const char *b)
{
    AUTO(run_set_free) struct run_set sa = {0}, sb = {0};
    int code = run_set_read(&sa, a);
    if (!code)
        code = run_set_read(&sb, b);
    return code ? code : match(c, &sa, &sb, a, b);
}
