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

/* The settings of a run that a comparison needs. */
struct compare_rules {
    double equivalence;
    int64_t blocks; /* that the config asks for in a launch; 1 for an import */
    char baseline[WL_TEXT_MAX];
    const char *wanted; /* the config to compare with instead; NULL: the run's own baseline */
};

/* A group of a run. */
struct group_pass {
    const struct recorded *r;
    const struct origins *origins;
    const struct compare_rules *rules;
    size_t group;
    const struct gathered *g;
    const char *best_of;  /* a mode, or NULL */
    struct comparison *c; /* gets the contrasts */
};

/* GS_OK or reported. */
static int compare_rules_read(struct compare_rules *out, const struct recorded *r)
{
    static const char defaults[] = "";
    AUTO_FREE char *path = xstrfmt("%s/config.ini", r->dir);
    bool there = !access(path, F_OK);
    AUTO(config_free_of) struct config *config = NULL;
    struct settings set;
    CHECK(there ? config_load(&config, path, (const char *const *)r->overrides)
                : config_from_text(&config, path, defaults, 0, NULL));
    CHECK(settings_read(config, &set));
    /* A training command decides itself how many steps it makes. */
    bool asked = there && !r->imported && strcmp(r->workload, TRAIN_WORKLOAD) != 0;
    *out = (struct compare_rules){.equivalence = set.measure.equivalence,
                                  .blocks = asked ? set.measure.blocks : 1};
    memcpy(out->baseline, set.measure.baseline, sizeof out->baseline);
    return GS_OK;
}

static void add_launch(struct text *t, int launch, size_t blocks)
{
    text_addf(t, "%s%d (%zu)", t->len ? ", " : "", launch, blocks);
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
        if (blocks < least || 2 * blocks < (size_t)asked)
            add_launch(blocks < least ? &out : &few, x->v[i].launch, blocks);
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

/* ---- pairs ---- */

/* The logarithm by which the mean of two visits of a block is longer than the first; 0: one visit. */
static double second_visit(const struct series *again, const struct block *first, size_t *from)
{
    const struct block *x = again ? series_block(again, first->launch, first->number, from) : NULL;
    return x && !x->warm ? log(x->time_s / first->time_s) / 2 : 0;
}

/* Adds log(b / a) of each block of this origin that has both a and b.
 *
 * A block of a trial visits its baseline twice. Then the time is the mean of the logarithms of both
 * visits, as in job/trial_result.c; but not if a and b are the two copies. The A/A floor is copy 1
 * against copy 0 everywhere. For a mean of two copies it is too large rather than too small: a visit
 * against another has 4/3 of the variance of a visit against the mean of two, and a lasting
 * difference between the copies is half as large from their mean. */
static void group_pairs(const struct group_pass *p, const struct series *a, const struct series *b,
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

static const char *group_config(const struct group_pass *p, const struct series *s)
{
    return p->r->cells[s->cell].config;
}

static const char *group_mode(const struct group_pass *p, const struct series *s)
{
    return p->r->cells[s->cell].mode;
}

/* The baseline of the mode: the config with a second copy, else the one that the config file names,
 * else the first. NULL: none, as for cells that do not depend on the config. */
static const struct series *baseline_of_mode(const struct group_pass *p, const char *mode)
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

/* The config to compare with: the wanted one, or the baseline; with best_of, the config that is
 * fastest in that mode. NULL: none, or `mode` is best_of. */
static const struct series *baseline_or_best(const struct group_pass *p, const char *mode)
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

/* ---- unpaired ----
 *
 * The contrasts inside an imported run, whose configs were launched one by one and share no block.
 * Each config is compared with the baseline, between cells that are alike in all else, launches with
 * launches (as in compare_between_runs, but without an A/A floor). Only launches of one origin are
 * compared. Launches without a counterpart of their origin have a row without numbers, which names
 * the difference.
 */

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

/* ---- unpaired: cells ---- */

static struct unpaired_cell *unpaired_add_cell(struct pass *p, const struct rec_cell *cell,
                                               size_t origin, const struct series_status *o)
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
        unpaired_add_cell(p, cell, p->origins->n, &o);
    for (size_t i = 0; i < s->n_blocks && o.numbers; i++) {
        const struct block *b = &s->blocks[i];
        size_t origin = origins_of(p->origins, p->r, cell->group, b->launch), k = first;
        while (k < p->n && p->cells[k].origin != origin)
            k++;
        struct unpaired_cell *one =
            k < p->n ? &p->cells[k] : unpaired_add_cell(p, cell, origin, &o);
        if (!b->warm && b->time_s > 0)
            values_add(&one->x, (struct nested){b->launch, log(b->time_s), b->number});
    }
}

static bool alike(const struct unpaired_cell *a, const struct unpaired_cell *b)
{
    return a->cell->size_B == b->cell->size_B && !strcmp(a->cell->mode, b->cell->mode) &&
           !strcmp(a->params, b->params);
}

/* ---- unpaired: contrasts ---- */

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
static const struct unpaired_cell *unpaired_counterpart(const struct pass *p, const char *baseline,
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
    note_add(&one->note, "mixed provenance, kept apart: no launch of %s like these (%s)",
             a->cell->config, other);
}

static void unpaired_add_contrast(const struct pass *p, const char *baseline,
                                  const struct unpaired_cell *b)
{
    const struct unpaired_cell *a = unpaired_counterpart(p, baseline, b);
    struct contrast *one = comparison_add(p->c, p->r, b->cell, baseline);
    one->kind = CONTRAST_UNPAIRED;
    one->no_floor = true;
    one->bound = p->rules->equivalence;
    one->stream += b->origin;
    if (!b->outcome.numbers)
        note_add(&one->note, "%s: %s", b->outcome.status, b->outcome.why);
    else if (!a)
        note_add(&one->note, "not measured with %s", baseline);
    else if (!a->outcome.numbers)
        note_add(&one->note, "baseline %s: %s", a->outcome.status, a->outcome.why);
    else if (a->origin != b->origin)
        note_difference(p, one, a, b);
    if (one->note)
        return;
    one->x = values_copy(&a->x);
    one->y = values_copy(&b->x);
    note_add(&one->note, "launched apart");
}

/* The index of the first cell with the same parameters names the family. */
static size_t unpaired_family_of(const struct pass *p, size_t i)
{
    size_t k = 0;
    while (k < i && !alike(&p->cells[k], &p->cells[i]))
        k++;
    return k;
}

/* Adds the contrasts of a run, whose groups are gathered. */
static void compare_unpaired(struct comparison *c, const struct recorded *r,
                             const struct gathered *groups, const struct origins *origins,
                             const struct compare_rules *rules)
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
        unpaired_add_contrast(&p, baseline, &p.cells[i]);
        c->v[c->n - 1].family = c->families + unpaired_family_of(&p, i);
    }
    c->families += p.n;
    for (size_t i = 0; i < p.n; i++) {
        free(p.cells[i].params);
        free(p.cells[i].x.v);
    }
    free(p.cells);
}

/* ---- paired: contrasts ---- */

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
    values_drop_short(&c->x, p->rules->blocks, &c->note);
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
        note_add(&c->note, "%s", left_out);
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
    note_add(&c->note, "mixed provenance, launches %s of %zu kinds kept apart (%s)", launches, n,
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
        note_add(&c->note, "%s%s: %s", of_it.numbers ? "baseline " : "", o->status, o->why);
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
    CHECK(compare_rules_read(&rules, r));
    CHECK(origins_read(&origins, r));
    rules.wanted = baseline;
    if (r->imported && !best_of)
        compare_unpaired(c, r, groups, &origins, &rules);
    for (size_t i = 0; i < r->n_groups && !r->imported; i++)
        if (r->groups[i].n > 1)
            contrast_group(&(struct group_pass){r, &origins, &rules, i, &groups[i], best_of, c});
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

/* ---- a set of runs ---- */

/* The cells of a folder of runs with their log-times. */
struct set_cell {
    const struct recorded *r;
    const struct rec_cell *cell;
    const char *origin; /* of the launches in x: the origin of most launches */
    double bound;
    struct values x, aa; /* aa: log-ratios of the two copies of its mode's baseline */
    char *note;
};
struct run_set {
    struct recorded **runs;
    struct origins *origins;
    size_t n_runs;
    struct set_cell *cells;
    size_t n;
};

/* The origin of most launches of the series. *others: the launches of other origins. */
static size_t main_origin(const struct group_pass *p, const struct series *s, size_t *others)
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

static void add_values(const struct group_pass *p, struct set_cell *c, const struct series *s,
                       size_t origin)
{
    for (size_t i = 0; i < s->n_blocks; i++) {
        const struct block *b = &s->blocks[i];
        if (b->warm || origins_of(p->origins, p->r, p->group, b->launch) != origin)
            continue;
        values_add(&c->x, (struct nested){b->launch, log(b->time_s), b->number});
    }
    values_drop_short(&c->x, p->rules->blocks, &c->note);
}

static void add_floor(const struct group_pass *p, struct set_cell *c, const struct series *s,
                      size_t origin)
{
    const struct series *base = baseline_of_mode(p, group_mode(p, s));
    const struct series *copy = base ? gathered_find(p->g, base->cell, 1) : NULL;
    if (copy)
        group_pairs(p, base, copy, origin, &c->aa);
}

static void between_runs_add_cell(struct run_set *set, const struct group_pass *p,
                                  const struct series *s)
{
    size_t others, origin;
    if (s->copy || !series_status(p->r, s).numbers)
        return;
    origin = main_origin(p, s, &others);
    ALLOC_MORE(set->cells, set->n);
    struct set_cell *c = &set->cells[set->n++];
    *c = (struct set_cell){.r = p->r,
                           .cell = &p->r->cells[s->cell],
                           .origin = p->origins->texts[origin],
                           .bound = p->rules->equivalence};
    add_values(p, c, s, origin);
    add_floor(p, c, s, origin);
    AUTO_FREE char *left_out = launches_out_text(p->g);
    if (*left_out)
        note_add(&c->note, "%s: %s", p->r->run_id, left_out);
    if (others)
        note_add(&c->note, "mixed provenance in %s: %zu launches of another kind are left out",
                 p->r->run_id, others);
}

static int add_run(struct run_set *s, const char *dir)
{
    struct recorded *r;
    struct compare_rules rules;
    int code = recorded_read(&r, dir);
    if (code || !r)
        return code;
    struct origins *o = &s->origins[s->n_runs];
    s->runs[s->n_runs++] = r;
    CHECK(compare_rules_read(&rules, r));
    CHECK(origins_read(o, r));
    for (size_t k = 0; k < r->n_groups && !code; k++) {
        struct gathered g;
        code = gather_group(r, k, &g);
        for (size_t i = 0; i < g.n && !code; i++)
            between_runs_add_cell(s, &(struct group_pass){r, o, &rules, k, &g, NULL, NULL},
                                  &g.series[i]);
        gathered_free(r, &g);
    }
    return code;
}

static int run_set_read(struct run_set *s, const char *root)
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

static void run_set_free(struct run_set *s)
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
static const struct set_cell *between_runs_counterpart(const struct run_set *s,
                                                       const struct set_cell *of)
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
    for (size_t i = 0; i < COUNT(counts); i++)
        if (counts[i].a != counts[i].b)
            text_addf(&t, "%s%s %lld | %lld", t.len ? ", " : "", counts[i].name,
                      (long long)counts[i].a, (long long)counts[i].b);
    AUTO_FREE char *origin = origin_difference(a->origin, b->origin);
    text_addf(&t, "%s%s", t.len && *origin ? ", " : "", origin);
    return t.s;
}

static void between_runs_add_contrast(struct comparison *c, const struct set_cell *a,
                                      const struct set_cell *b)
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
            note_add(&one->note, "%s", notes[i]);
    if (!a->aa.n || !b->aa.n)
        note_add(&one->note, "no A/A floor in %s", !a->aa.n ? a->r->run_id : b->r->run_id);
    if (!strcmp(a->r->run_id, b->r->run_id))
        note_add(&one->note, "the same recording on both sides");
    free(one->baseline_ran);
    one->baseline_ran = xstrdup(a->cell->ran);
    AUTO_FREE char *other = difference(a, b);
    if (*other)
        note_add(&one->note, "not alike: %s", other);
    if (*one->ran && *one->baseline_ran && strcmp(one->ran, one->baseline_ran) != 0)
        note_add(&one->note, "not the same operation: %s | %s", one->baseline_ran, one->ran);
}

/* The index of the first cell of the same group and mode names the family. */
static size_t between_runs_family_of(const struct run_set *s, size_t i)
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
        const struct set_cell *x =
            between_runs_counterpart(b, y) == y ? between_runs_counterpart(a, y) : NULL;
        if (x) {
            between_runs_add_contrast(c, x, y);
            c->v[c->n - 1].family = between_runs_family_of(b, i);
        }
        alone += !x && between_runs_counterpart(b, y) == y;
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
    CHECK(run_set_read(&sa, a));
    CHECK(run_set_read(&sb, b));
    return match(c, &sa, &sb, a, b);
}
