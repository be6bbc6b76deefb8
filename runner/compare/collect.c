/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/collect.h"

#include "base/err.h"
#include "base/stats.h"
#include "base/text.h"
#include "config/settings.h"
#include "record/runs.h"
#include "reduce/gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- rules ---- */

/* A launch with fewer blocks is left out, unless the config asks for so few. */
#define BASELINE_BLOCKS 3

/* A group of a run. */
struct pass {
    const struct recorded *r;
    const struct origins *origins;
    const char *best_of; /* a mode, whose fastest config is compared with; or NULL */
    const char *wanted;  /* the config to compare with; NULL: the run's own baseline */
    size_t group;
    const struct gathered *g;
};

/* The blocks of a launch that the config asks for. A training command decides itself how many steps it
 * makes. */
static int64_t blocks_asked(const struct recorded *r)
{
    bool asked = r->config && !r->imported && strcmp(r->workload, TRAIN_WORKLOAD) != 0;
    return asked ? r->measure.blocks : 1;
}

void values_drop_short(struct values *x, int64_t asked, char **note)
{
    AUTO_TEXT struct text out = {0}, few = {0};
    size_t kept = 0,
           least = asked < 2 * BASELINE_BLOCKS ? (size_t)(asked + 1) / 2 : BASELINE_BLOCKS;
    for (size_t i = 0, end; i < x->n; i = end) {
        for (end = i; end < x->n && x->v[end].launch == x->v[i].launch; end++)
            ;
        size_t blocks = end - i;
        struct text *to = blocks < least ? &out : &few;
        if (blocks < least || 2 * blocks < (size_t)asked)
            text_addf(to, "%s%d (%zu)", to->len ? ", " : "", x->v[i].launch, blocks);
        if (blocks < least)
            continue;
        memmove(x->v + kept, x->v + i, blocks * sizeof *x->v);
        kept += blocks;
    }
    x->n = kept;
    if (out.len)
        note_add(note, "left out, too few blocks: launch %s of %lld", out.s, (long long)asked);
    if (few.len)
        note_add(note, "few blocks: launch %s of %lld", few.s, (long long)asked);
}

/* ---- blocks ---- */

static const struct rec_cell *cell_of(const struct pass *p, const struct series *s)
{
    return &p->r->cells[s->cell];
}

static bool is_of_mode(const struct pass *p, const struct series *s, const char *mode)
{
    return !strcmp(cell_of(p, s)->mode, mode);
}

static bool is_of_origin(const struct pass *p, const struct block *b, size_t origin)
{
    return p->origins->n == 1 || origins_of(p->origins, p->r, p->group, b->launch) == origin;
}

/* The logarithm by which the mean of two visits of a block is longer than the first; 0: one visit. */
static double second_visit(const struct series *again, const struct block *first, size_t *from)
{
    const struct block *x = again ? series_block(again, first->launch, first->number, from) : NULL;
    return x && !x->warm ? log(x->time_s / first->time_s) / 2 : 0;
}

/* Adds log(b / a) of each block of this origin that has both a and b.
 *
 * A block of a trial visits its baseline twice, and a launch of a training starts it twice. Then the time is the mean of
 * the logarithms of both, as in job/price.c; but not if a and b are the two copies. The A/A floor is copy 1
 * against copy 0 everywhere. For a mean of two copies it is too large rather than too small: a visit
 * against another has 4/3 of the variance of a visit against the mean of two, and a lasting
 * difference between the copies is half as large from their mean. */
static void add_pairs(const struct pass *p, const struct series *a, const struct series *b,
                      size_t origin, struct values *out)
{
    size_t from = 0, from_a = 0, from_b = 0;
    bool both = a->cell != b->cell && level_of(p->r->workload, "", "") >= LEVEL_TRIAL;
    const struct series *a2 = both ? gathered_find(p->g, a->cell, 1) : NULL;
    const struct series *b2 = both ? gathered_find(p->g, b->cell, 1) : NULL;
    for (size_t i = 0; i < b->n_blocks; i++) {
        const struct block *y = &b->blocks[i], *x = series_block(a, y->launch, y->number, &from);
        if (!x || x->warm || y->warm || !is_of_origin(p, y, origin))
            continue;
        double ratio = log(y->time_s / x->time_s) + second_visit(b2, y, &from_b) -
                       second_visit(a2, x, &from_a);
        APPEND(out->v, out->n) = (struct nested){y->launch, ratio, y->number};
    }
}

/* The launches of a series that have one origin. */
struct kind {
    size_t origin, n;
    struct text launches; /* "1, 2" */
};
struct kinds {
    struct kind *v;
    size_t n;
};

static struct kinds kinds_of(const struct pass *p, const struct series *s)
{
    struct kinds all = {0};
    for (size_t i = 0, k = 0; i < s->n_blocks; i++, k = 0) {
        int launch = s->blocks[i].launch;
        size_t origin = origins_of(p->origins, p->r, p->group, launch);
        if (i && launch == s->blocks[i - 1].launch)
            continue;
        while (k < all.n && all.v[k].origin != origin)
            k++;
        if (k == all.n)
            APPEND(all.v, all.n) = (struct kind){.origin = origin};
        text_addf(&all.v[k].launches, "%s%d", all.v[k].n++ ? ", " : "", launch);
    }
    return all;
}

static void kinds_free(struct kinds *all)
{
    for (size_t i = 0; i < all->n; i++)
        text_free(&all->v[i].launches);
    free(all->v);
}

/* ---- baselines ---- */

/* The baseline of the mode: the config with a second copy, else the one that the config file names,
 * else the first. NULL: none, as for cells that do not depend on the config. */
static const struct series *baseline_of_mode(const struct pass *p, const char *mode)
{
    const struct series *first = NULL, *named = NULL, *twice = NULL;
    for (size_t i = 0; i < p->g->n; i++) {
        const struct series *s = &p->g->series[i];
        if (!is_of_mode(p, s, mode) || !*cell_of(p, s)->config)
            continue;
        if (s->copy) {
            twice = twice ? twice : gathered_find(p->g, s->cell, 0);
            continue;
        }
        first = first ? first : s;
        /* Without a config file, as in a recording of tune, it is the job as it is. */
        const char *name = p->r->measure.baseline;
        if (!strcmp(cell_of(p, s)->config, *name ? name : "auto"))
            named = s;
    }
    return twice ? twice : named ? named : first;
}

/* The effect of s against the baseline of its mode, over all origins; NaN: no block in common. */
static double effect_of(const struct pass *p, const struct series *base, const struct series *s)
{
    struct values x = {0};
    for (size_t o = 0; o < p->origins->n; o++)
        add_pairs(p, base, s, o, &x);
    double effect = x.n ? stats_launch_mean(x.v, x.n) : NAN;
    free(x.v);
    return effect;
}

static bool same_operation(const struct rec_cell *a, const struct rec_cell *b)
{
    return recorded_same_operation(a->ran, a->params, b->ran, b->params);
}

/* The config that is fastest in the mode `of`; NULL: the mode is missing or has no numbers. A config
 * that ran the same operation as the baseline is the baseline under another name. */
static const char *best_config(const struct pass *p, const char *of)
{
    const struct series *base = baseline_of_mode(p, of), *best = base;
    double least = 0;
    if (!base || !series_status(p->r, base).numbers)
        return NULL;
    for (size_t i = 0; i < p->g->n; i++) {
        const struct series *s = &p->g->series[i];
        const struct rec_cell *cell = cell_of(p, s);
        if (s->copy || s == base || !is_of_mode(p, s, of) || !*cell->config ||
            same_operation(cell, cell_of(p, base)))
            continue;
        double effect = effect_of(p, base, s);
        if (effect < least)
            least = effect, best = s;
    }
    return cell_of(p, best)->config;
}

/* The config to compare with: the wanted one, or the baseline; with best_of, the config that is
 * fastest in that mode. NULL: none, or `mode` is best_of. */
static const struct series *baseline_or_best(const struct pass *p, const char *mode)
{
    const char *best_of = p->best_of, *config = p->wanted;
    if (!best_of && !config)
        return baseline_of_mode(p, mode);
    if (best_of)
        config = strcmp(mode, best_of) ? best_config(p, best_of) : NULL;
    for (size_t i = 0; i < p->g->n && config; i++) {
        const struct series *s = &p->g->series[i];
        if (!s->copy && is_of_mode(p, s, mode) && !strcmp(cell_of(p, s)->config, config))
            return s;
    }
    return NULL;
}

/* ---- paired: configs of a group, block by block ---- */

static struct contrast *add_paired(struct comparison *c, const struct pass *p,
                                   const struct series *base, const struct series *s)
{
    const struct rec_cell *cell = cell_of(p, s), *other = cell_of(p, base);
    struct contrast *one = comparison_add(c, p->r, cell, other->config);
    xstrset(&one->baseline_ran, other->ran);
    contrast_differs(one, cell, other);
    one->same_operation = same_operation(cell, other);
    one->family = c->families;
    one->bound = p->r->measure.equivalence;
    AUTO_FREE char *left_out = launches_out_text(p->g);
    if (*left_out)
        note_add(&one->note, "%s", left_out);
    return one;
}

/* One config of the mode has a second copy; it need not be the baseline of this contrast. */
static void add_copies(const struct pass *p, const struct series *s, size_t origin,
                       struct values *aa)
{
    const struct series *twice = baseline_of_mode(p, cell_of(p, s)->mode);
    const struct series *copy = twice ? gathered_find(p->g, twice->cell, 1) : NULL;
    if (copy)
        add_pairs(p, twice, copy, origin, aa);
}

/* A row for each origin. */
static void contrast_series(struct comparison *c, const struct pass *p, const struct series *base,
                            const struct series *s)
{
    struct series_status of_base = series_status(p->r, base), of_it = series_status(p->r, s);
    if (!of_base.numbers || !of_it.numbers) {
        const struct series_status *o = of_it.numbers ? &of_base : &of_it;
        note_add(&add_paired(c, p, base, s)->note, "%s%s: %s", of_it.numbers ? "baseline " : "",
                 o->status, o->why);
        return;
    }
    AUTO(kinds_free) struct kinds kinds = kinds_of(p, s);
    for (size_t k = 0; k < kinds.n; k++) {
        const struct kind *mine = &kinds.v[k], *other = &kinds.v[k == 0 ? 1 : 0];
        struct contrast *one = add_paired(c, p, base, s);
        one->family += k;
        one->stream += k;
        one->origin = xstrdup(p->origins->texts[mine->origin]);
        if (kinds.n > 1) {
            AUTO_FREE char *difference =
                origin_difference(one->origin, p->origins->texts[other->origin]);
            note_add(&one->note, "mixed provenance, launches %s of %zu kinds kept apart (%s)",
                     mine->launches.s, kinds.n, difference);
        }
        add_pairs(p, base, s, mine->origin, &one->x);
        add_copies(p, s, mine->origin, &one->aa);
        values_drop_short(&one->x, blocks_asked(p->r), &one->note);
    }
}

static void contrast_group(struct comparison *c, const struct pass *p)
{
    const size_t families = p->origins->n + 1;
    for (size_t m = 0; m < p->g->n; m++) {
        const char *mode = cell_of(p, &p->g->series[m])->mode;
        size_t k = 0;
        while (!is_of_mode(p, &p->g->series[k], mode))
            k++;
        const struct series *base = k == m ? baseline_or_best(p, mode) : NULL;
        if (!base)
            continue;
        /* The arms of a price are no settings, and have a family of their own. */
        for (int price = 0; price < 2; price++, c->families += families)
            for (size_t i = 0; i < p->g->n; i++) {
                const struct series *s = &p->g->series[i];
                const char *config = cell_of(p, s)->config;
                if (!s->copy && s != base && is_of_mode(p, s, mode) && *config &&
                    level_is_price(p->r->workload, p->r->label, config) == price)
                    contrast_series(c, p, base, s);
            }
    }
}

/* ---- unpaired: what shares no block, launches with launches ----
 *
 * The configs of an imported run, which were launched one by one: each is compared with the baseline,
 * between cells that are alike in all else, without an A/A floor. Only launches of one origin are
 * compared; those without a counterpart have a row without numbers, which names the difference.
 *
 * Two runs: their cells that are alike in all.
 */

struct side { /* the launches of a cell that have one origin */
    const struct recorded *r;
    const struct rec_cell *cell;
    char *params; /* all parameters but those of the config; owned */
    size_t origin;
    const char *origin_text; /* NULL: no numbers */
    double bound;
    struct series_status outcome;
    struct values x, aa; /* log-times; log-ratios of the two copies of its mode's baseline */
    char *note;
};
struct sides {
    struct side *v;
    size_t n;
};

static struct side *add_side(struct sides *all, const struct pass *p, const struct series *s,
                             size_t origin)
{
    const struct rec_cell *cell = cell_of(p, s);
    struct side *one = &APPEND(all->v, all->n);
    *one = (struct side){.r = p->r,
                         .cell = cell,
                         .params = alike_without(cell->params, alike_config),
                         .origin = origin,
                         .bound = p->r->measure.equivalence,
                         .outcome = series_status(p->r, s)};
    if (!one->outcome.numbers)
        return one;
    one->origin_text = p->origins->texts[origin];
    for (size_t i = 0; i < s->n_blocks; i++) {
        const struct block *b = &s->blocks[i];
        if (!b->warm && b->time_s > 0 && is_of_origin(p, b, origin))
            APPEND(one->x.v, one->x.n) = (struct nested){b->launch, log(b->time_s), b->number};
    }
    values_drop_short(&one->x, blocks_asked(p->r), &one->note);
    add_copies(p, s, origin, &one->aa);
    return one;
}

static void sides_free(struct sides *all)
{
    for (size_t i = 0; i < all->n; i++) {
        free(all->v[i].params);
        free(all->v[i].x.v);
        free(all->v[i].aa.v);
        free(all->v[i].note);
    }
    free(all->v);
}

/* Of the same size, mode and parameters but those of the config? */
static bool alike(const struct side *a, const struct side *b)
{
    return a->cell->size_B == b->cell->size_B && !strcmp(a->cell->mode, b->cell->mode) &&
           !strcmp(a->params, b->params);
}

static bool same_family(const struct side *a, const struct side *b)
{
    return a->r == b->r && a->cell->group == b->cell->group &&
           !strcmp(a->cell->mode, b->cell->mode);
}

/* A contrast of b with a, NULL: without numbers. The index of the first side that is `same` names the
 * family. */
static struct contrast *add_unpaired(struct comparison *c, const struct sides *all,
                                     const struct side *a, const struct side *b,
                                     const char *baseline,
                                     bool (*same)(const struct side *, const struct side *))
{
    struct contrast *one = comparison_add(c, b->r, b->cell, baseline);
    one->kind = CONTRAST_UNPAIRED;
    one->bound = b->bound;
    one->family = c->families;
    for (size_t k = 0; !same(&all->v[k], b); k++)
        one->family++;
    if (!a)
        return one;
    one->x = values_copy(&a->x);
    one->y = values_copy(&b->x);
    one->aa = values_copy(&a->aa);
    one->bb = values_copy(&b->aa);
    return one;
}

/* ---- unpaired: inside an imported run ---- */

/* The baseline's cell with the same parameters, of the same origin if possible; NULL: none. */
static const struct side *baseline_side(const struct sides *all, const char *baseline,
                                        const struct side *of)
{
    const struct side *any = NULL;
    for (size_t i = 0; i < all->n; i++) {
        const struct side *a = &all->v[i];
        if (strcmp(a->cell->config, baseline) || !alike(a, of))
            continue;
        any = any ? any : a;
        if (a->origin == of->origin)
            return a;
    }
    return any;
}

/* Why the two cannot be compared; NULL: they can. The caller frees it. */
static char *why_not(const struct side *a, const struct side *b, const char *baseline)
{
    if (!b->outcome.numbers)
        return xstrfmt("%s: %s", b->outcome.status, b->outcome.why);
    if (!a)
        return xstrfmt("not measured with %s", baseline);
    if (!a->outcome.numbers)
        return xstrfmt("baseline %s: %s", a->outcome.status, a->outcome.why);
    if (a->origin == b->origin)
        return NULL;
    AUTO_FREE char *other = origin_difference(a->origin_text, b->origin_text);
    return xstrfmt("mixed provenance, kept apart: no launch of %s like these (%s)", baseline,
                   other);
}

static void compare_imported(struct comparison *c, const struct recorded *r,
                             const struct gathered *groups, const struct origins *origins,
                             const char *wanted)
{
    AUTO(sides_free) struct sides all = {0};
    for (size_t g = 0; g < r->n_groups; g++)
        for (size_t i = 0; i < groups[g].n; i++) {
            const struct pass p = {r, origins, NULL, wanted, g, &groups[g]};
            const struct series *s = &groups[g].series[i];
            AUTO(kinds_free) struct kinds kinds = {0};
            if (s->copy)
                continue;
            if (series_status(r, s).numbers)
                kinds = kinds_of(&p, s);
            else
                add_side(&all, &p, s, origins->n);
            for (size_t k = 0; k < kinds.n; k++)
                add_side(&all, &p, s, kinds.v[k].origin);
        }
    /* The config that is named, else the first; none, where the wanted one was not measured. */
    const char *named = wanted ? wanted : r->measure.baseline, *baseline = NULL;
    for (size_t i = 0; i < all.n && !baseline; i++)
        baseline = strcmp(all.v[i].cell->config, named) ? NULL : named;
    if (!baseline && !wanted && all.n)
        baseline = all.v[0].cell->config;
    for (size_t i = 0; i < all.n && baseline; i++) {
        const struct side *b = &all.v[i], *a = baseline_side(&all, baseline, b);
        if (!strcmp(b->cell->config, baseline))
            continue;
        AUTO_FREE char *why = why_not(a, b, baseline);
        struct contrast *one = add_unpaired(c, &all, why ? NULL : a, b, baseline, alike);
        one->no_floor = true;
        one->stream += b->origin;
        note_add(&one->note, "%s", why ? why : "launched apart");
    }
    c->families += all.n;
}

/* ---- inside a run ---- */

void compare_recorded(struct comparison *c, const struct recorded *r, const struct gathered *groups,
                      const char *best_of, const char *baseline)
{
    AUTO(origins_free) struct origins origins = {0};
    origins_of_run(&origins, r);
    if (r->imported && !best_of)
        compare_imported(c, r, groups, &origins, baseline);
    for (size_t i = 0; i < r->n_groups && !r->imported; i++)
        if (r->groups[i].n > 1)
            contrast_group(c, &(struct pass){r, &origins, best_of, baseline, i, &groups[i]});
}

int compare_within_run(struct comparison *c, const char *dir, const char *baseline)
{
    AUTO(recorded_free_of) struct recorded *r = NULL;
    CHECK(recorded_read(&r, dir));
    if (!r)
        return GS_OK;
    struct gathered *groups = gather_run(r);
    compare_recorded(c, r, groups, NULL, baseline);
    gathered_free_run(r, groups);
    return GS_OK;
}

/* ---- unpaired: two runs ---- */

struct one_run {
    struct recorded *r;
    struct origins origins;
    struct sides sides;
};

/* The launches of the origin that most of them have. */
static void add_main_side(struct sides *sides, const struct pass *p, const struct series *s)
{
    if (s->copy || !series_status(p->r, s).numbers)
        return;
    AUTO(kinds_free) struct kinds kinds = kinds_of(p, s);
    size_t most = 0, all = 0;
    for (size_t k = 0; k < kinds.n; k++) {
        most = kinds.v[k].n > kinds.v[most].n ? k : most;
        all += kinds.v[k].n;
    }
    if (!all)
        return;
    struct side *one = add_side(sides, p, s, kinds.v[most].origin);
    AUTO_FREE char *left_out = launches_out_text(p->g);
    if (*left_out)
        note_add(&one->note, "%s: %s", p->r->run_id, left_out);
    if (all > kinds.v[most].n)
        note_add(&one->note, "mixed provenance in %s: %zu launches of another kind are left out",
                 p->r->run_id, all - kinds.v[most].n);
}

static int read_one(struct one_run *one, const char *root)
{
    AUTO(runs_free) struct runs runs = {0};
    CHECK(runs_below(&runs, &root, 1));
    if (runs.n != 1)
        return fail_at(GS_USAGE, root, 0, "holds %zu runs; compare one run with one", runs.n);
    CHECK(recorded_read(&one->r, runs.v[0].dir));
    if (!one->r)
        return GS_OK;
    origins_of_run(&one->origins, one->r);
    struct gathered *groups = gather_run(one->r);
    for (size_t g = 0; g < one->r->n_groups; g++)
        for (size_t i = 0; i < groups[g].n; i++)
            add_main_side(&one->sides,
                          &(struct pass){one->r, &one->origins, NULL, NULL, g, &groups[g]},
                          &groups[g].series[i]);
    gathered_free_run(one->r, groups);
    return GS_OK;
}

static void one_run_free(struct one_run *one)
{
    sides_free(&one->sides);
    origins_free(&one->origins);
    recorded_free(one->r);
}

/* The same cell; NULL: the run has none. */
static const struct side *same_cell(const struct sides *all, const struct side *of)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct side *s = &all->v[i];
        if (s->cell->size_B == of->cell->size_B && !strcmp(s->cell->config, of->cell->config) &&
            !strcmp(s->cell->mode, of->cell->mode) && !strcmp(s->cell->params, of->cell->params) &&
            !strcmp(s->r->workload, of->r->workload) && !strcmp(s->r->label, of->r->label))
            return s;
    }
    return NULL;
}

/* "ranks 4 | 2, nccl 2.28.3 | 2.29.1"; "": no difference. The caller frees it. */
static char *difference(const struct side *a, const struct side *b)
{
    const struct {
        const char *name;
        int64_t a, b;
    } counts[] = {{"ranks", a->r->ranks, b->r->ranks}, {"nodes", a->r->nodes, b->r->nodes}};
    struct text t = {0};
    for (size_t i = 0; i < COUNT(counts); i++)
        if (counts[i].a != counts[i].b)
            text_addf(&t, "%s%s %lld | %lld", t.len ? ", " : "", counts[i].name,
                      (long long)counts[i].a, (long long)counts[i].b);
    AUTO_FREE char *origin = origin_difference(a->origin_text, b->origin_text);
    text_addf(&t, "%s%s", t.len && *origin ? ", " : "", origin);
    return t.s;
}

static void contrast_runs(struct comparison *c, const struct sides *all, const struct side *a,
                          const struct side *b)
{
    AUTO_FREE char *name = strcmp(a->r->platform, b->r->platform)
                               ? xstrfmt("%s/%s", a->r->platform, a->r->run_id)
                               : xstrdup(a->r->run_id);
    struct contrast *one = add_unpaired(c, all, a, b, name, same_family);
    xstrset(&one->baseline_ran, a->cell->ran);
    if (a->note)
        note_add(&one->note, "%s", a->note);
    if (b->note)
        note_add(&one->note, "%s", b->note);
    if (!a->aa.n || !b->aa.n)
        note_add(&one->note, "no A/A floor in %s", !a->aa.n ? a->r->run_id : b->r->run_id);
    if (!strcmp(a->r->run_id, b->r->run_id))
        note_add(&one->note, "the same recording on both sides");
    AUTO_FREE char *other = difference(a, b);
    if (*other)
        note_add(&one->note, "not alike: %s", other);
    if (*one->ran && *one->baseline_ran && strcmp(one->ran, one->baseline_ran) != 0)
        note_add(&one->note, "not the same operation: %s | %s", one->baseline_ran, one->ran);
}

int compare_between_runs(struct comparison *c, const char *a, const char *b)
{
    AUTO(one_run_free) struct one_run A = {0}, B = {0};
    size_t alone = 0;
    CHECK(read_one(&A, a));
    CHECK(read_one(&B, b));
    for (size_t i = 0; i < B.sides.n; i++) {
        const struct side *y = &B.sides.v[i], *x = same_cell(&A.sides, y);
        if (x)
            contrast_runs(c, &B.sides, x, y);
        alone += !x;
    }
    const char *of_a = A.sides.n ? A.sides.v[0].r->workload : "";
    const char *of_b = B.sides.n ? B.sides.v[0].r->workload : "";
    if (!c->n && strcmp(of_a, of_b) != 0) /* such as the price and the proof of tune */
        return fail(
            GS_USAGE,
            "compare: %s has workload '%s' and %s has '%s', so they share no cell; give one of "
            "them alone to see its own answer",
            a, of_a, b, of_b);
    if (!c->n)
        return fail(GS_USAGE,
                    "%s and %s have no cell in common: workload, label, config, mode, size "
                    "and parameters must be equal",
                    a, b);
    if (alone)
        say("%zu cells of %s are not in %s", alone, b, a);
    return GS_OK;
}
