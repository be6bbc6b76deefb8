/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/evidence.h"

#include "base/text.h"
#include "compare/collect.h"
#include "compare/origin.h"
#include "config/locate.h"
#include "record/ledger.h"
#include "record/manifest.h"
#include "record/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one contrast ---- */

bool evidence_has_numbers(const struct evidence *e)
{
    return isfinite(e->c->effect.lo) && isfinite(e->c->effect.hi);
}

double evidence_gain_low(const struct evidence *e)
{
    return -expm1(e->c->effect.hi);
}

double evidence_gain_high(const struct evidence *e)
{
    return -expm1(e->c->effect.lo);
}

bool evidence_wins(const struct evidence *e)
{
    return e->c->judgement.verdict == VERDICT_FASTER && evidence_gain_low(e) > GAIN_LEAST &&
           (e->effect == EFFECT_HONOURED || e->effect == EFFECT_UNKNOWN);
}

/* ---- which are about the same ---- */

/* A later version may have more parameters, so only those of both need to agree. */
static bool params_agree(const char *a, const char *b)
{
    AUTO_WORDS struct words x = {0}, y = {0};
    bool agree = true;
    words_split(&x, a, ' ');
    words_split(&y, b, ' ');
    for (size_t i = 0; i < x.n; i++)
        for (size_t k = 0; k < y.n; k++) {
            size_t key = strcspn(x.v[i], "=") + 1;
            agree = agree && (strncmp(x.v[i], y.v[k], key) != 0 || !strcmp(x.v[i], y.v[k]));
        }
    return agree;
}

bool evidence_same_step(const struct evidence *a, const struct evidence *b)
{
    if (a->c->family == b->c->family)
        return true;
    if (a->run == b->run && strcmp(a->step, b->step) != 0) /* one version: other parameters */
        return false;
    return a->run->shape == b->run->shape && a->c->size_B == b->c->size_B &&
           !strcmp(a->c->workload, b->c->workload) && !strcmp(a->c->mode, b->c->mode) &&
           params_agree(a->step, b->step);
}

bool evidence_opens_step(const struct steps_evidence *s, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (s->v[k].counts && evidence_same_step(&s->v[k], &s->v[i]))
            return false;
    return s->v[i].counts;
}

static bool replaces(const struct evidence *other, const struct evidence *e)
{
    return evidence_has_numbers(other) &&
           run_stands(!other->run->unfinished, other->c->run_id, !e->run->unfinished,
                      e->c->run_id) &&
           !strcmp(other->c->config, e->c->config) && evidence_same_step(other, e);
}

static bool overrides(const struct evidence *higher, const struct evidence *e)
{
    return evidence_has_numbers(higher) && higher->level > e->level &&
           higher->run->shape == e->run->shape && !strcmp(higher->c->config, e->c->config);
}

static void decide_which_count(struct steps_evidence *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct evidence *e = &s->v[i];
        e->latest = e->counts = true;
        for (size_t k = 0; k < s->n && e->latest; k++) {
            e->latest = !replaces(&s->v[k], e);
            e->counts = e->counts && e->latest && !overrides(&s->v[k], e);
        }
    }
}

/* ---- what a step leaves open ---- */

static bool enters(const struct evidence *e, const struct evidence *step)
{
    return e->latest && e->level == step->level && evidence_same_step(e, step) &&
           e->c->judgement.verdict != VERDICT_SAME;
}

double evidence_left_open(const struct steps_evidence *s, const struct evidence *step)
{
    size_t settings = 0;
    double most = NAN;
    for (size_t i = 0; i < s->n; i++) {
        const struct evidence *e = &s->v[i];
        if (!e->latest || e->level != step->level || !evidence_same_step(e, step))
            continue;
        settings += enters(e, step) && evidence_has_numbers(e);
        if (evidence_has_numbers(e) && e->c->judgement.verdict == VERDICT_SAME)
            most = 0; /* the same operation: nothing to gain */
    }
    for (size_t i = 0; i < s->n; i++) {
        const struct evidence *e = &s->v[i];
        if (!enters(e, step))
            continue;
        if (e->c->effect.launches == 1)
            return NAN;
        if (evidence_has_numbers(e))
            most = fmax(fmax(most, 0), -expm1(effect_simultaneous(&e->c->effect, settings).lo));
    }
    return most;
}

/* ---- reading ---- */

/* Of a step that is measured in parts, only the overlapped mode is what a training runs. */
static bool is_whole_step(const struct contrast *c)
{
    enum level level = contrast_level(c);
    return level > LEVEL_STEP || (level > LEVEL_ALONE && !strcmp(c->mode, "overlapped"));
}

bool evidence_is_imported(const struct contrast *c)
{
    return c->kind == CONTRAST_UNPAIRED && !strcmp(c->workload, "iter_proxy") && !*c->mode;
}

static bool is_of_steps(const struct contrast *c)
{
    return !setting_is_price(c) && (is_whole_step(c) || evidence_is_imported(c));
}

static size_t shape_of(struct steps_evidence *s, const struct machine *m)
{
    const struct shape new = {m->facts[FACT_PLATFORM] ? m->facts[FACT_PLATFORM] : "",
                              m->facts[FACT_RANKS] ? m->facts[FACT_RANKS] : "",
                              m->facts[FACT_NODES] ? m->facts[FACT_NODES] : ""};
    for (size_t i = 0; i < s->n_shapes; i++)
        if (!strcmp(s->shapes[i].platform, new.platform) &&
            !strcmp(s->shapes[i].ranks, new.ranks) && !strcmp(s->shapes[i].nodes, new.nodes))
            return i;
    APPEND(s->shapes, s->n_shapes) = new;
    return s->n_shapes - 1;
}

static void add_run(struct steps_evidence *s, const char *dir, struct machine *m)
{
    APPEND(s->runs, s->n_runs) =
        (struct advice_run){xstrdup(dir), *m, shape_of(s, m), !run_is_final(dir)};
}

static void add_platform(struct text *t, const char *platform)
{
    if (!platform || (t->s && strstr(t->s, platform)))
        return;
    text_addf(t, "%s%s", t->len ? ", " : "", platform);
}

/* As gradsync check, but a run may be unfinished. */
static int check_whole(const char *dir)
{
    int listed = run_is_final(dir) ? manifest_verify(dir) : GS_OK, code = ledger_check_run(dir);
    return listed ? listed : code;
}

/* Runs that can hold steps; others are only checked. */
static int read_run(struct steps_evidence *s, const char *dir, struct text *platforms)
{
    struct machine m;
    size_t before = s->comparison.n;
    int code = machine_of_run(&m, dir);
    if (code)
        return code;
    const char *workload = m.facts[FACT_WORKLOAD] ? m.facts[FACT_WORKLOAD] : "";
    add_platform(platforms, m.facts[FACT_PLATFORM]);
    if (level_of(workload, "overlapped", "") != LEVEL_ALONE)
        code = compare_within_run(&s->comparison, dir, NULL, NULL);
    else
        code = check_whole(dir);
    if (code || s->comparison.n == before)
        machine_free(&m);
    else
        add_run(s, dir, &m);
    return code;
}

static const struct advice_run *run_of(const struct steps_evidence *s, const struct contrast *c)
{
    size_t i = 0;
    while (i + 1 < s->n_runs && strcmp(s->runs[i].machine.facts[FACT_RUN], c->run_id) != 0)
        i++;
    return &s->runs[i];
}

/* The words that all contrasts of the family have: the others are of configs. */
static char *step_of(const struct steps_evidence *s, const struct contrast *c)
{
    AUTO_WORDS struct words w = {0};
    struct text t = {0};
    AUTO_FREE char *step = alike_without(c->params, alike_config);
    text_add(&t, "");
    words_split(&w, step, ' ');
    for (size_t i = 0; i < w.n; i++) {
        bool common = true;
        for (size_t k = 0; k < s->comparison.n && common; k++)
            common = s->comparison.v[k].family != c->family ||
                     text_lists(s->comparison.v[k].params, " ", w.v[i]);
        if (common)
            text_addf(&t, "%s%s", t.len ? " " : "", w.v[i]);
    }
    return t.s;
}

void evidence_judge(struct steps_evidence *s)
{
    comparison_keep(&s->comparison, is_of_steps);
    comparison_solve(&s->comparison, 0);
    s->v = xcalloc(s->comparison.n + 1, sizeof *s->v);
    for (size_t i = 0; i < s->comparison.n; i++) {
        const struct contrast *c = &s->comparison.v[i];
        if (is_whole_step(c) &&
            (!strcmp(c->baseline, "auto") || contrast_level(c) == LEVEL_TRAINING))
            s->v[s->n++] = (struct evidence){.c = c,
                                             .run = run_of(s, c),
                                             .step = step_of(s, c),
                                             .level = contrast_level(c),
                                             .effect = setting_effect(c->config, c->ran)};
    }
    decide_which_count(s);
}

int evidence_read(struct steps_evidence *s, char **roots, size_t n)
{
    static char *everything[] = {LOCATE_DATA};
    AUTO(runs_free) struct runs runs = {0};
    struct text platforms = {0};
    *s = (struct steps_evidence){0};
    text_add(&platforms, "");
    int code = runs_below(&runs, (const char *const *)(n ? roots : everything), n ? n : 1);
    for (size_t i = 0; i < runs.n && !code; i++)
        code = read_run(s, runs.v[i].dir, &platforms);
    s->platforms = platforms.s;
    if (!code)
        evidence_judge(s);
    return code;
}

void evidence_free(struct steps_evidence *s)
{
    comparison_free(&s->comparison);
    for (size_t i = 0; i < s->n_runs; i++) {
        free(s->runs[i].dir);
        machine_free(&s->runs[i].machine);
    }
    for (size_t i = 0; i < s->n; i++)
        free(s->v[i].step);
    free(s->runs);
    free(s->v);
    free(s->shapes);
    free(s->platforms);
    *s = (struct steps_evidence){0};
}
