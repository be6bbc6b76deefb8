/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/advice.h"

#include "base/shell.h"
#include "base/units.h"
#include "compare/collect.h"
#include "compare/origin.h"
#include "config/locate.h"
#include "record/ledger.h"
#include "record/manifest.h"
#include "record/runs.h"
#include "reduce/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== evidence ==== */

/* ---- one contrast ---- */

static bool has_numbers(const struct evidence *e)
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

/* Does v[i] count, as the first of its step? */
static bool opens_step(const struct steps_evidence *s, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (s->v[k].counts && evidence_same_step(&s->v[k], &s->v[i]))
            return false;
    return s->v[i].counts;
}

static bool replaces(const struct evidence *other, const struct evidence *e)
{
    return has_numbers(other) &&
           run_stands(!other->run->unfinished, other->c->run_id, !e->run->unfinished,
                      e->c->run_id) &&
           !strcmp(other->c->config, e->c->config) && evidence_same_step(other, e);
}

static bool overrides(const struct evidence *higher, const struct evidence *e)
{
    return has_numbers(higher) && higher->level > e->level && higher->run->shape == e->run->shape &&
           !strcmp(higher->c->config, e->c->config);
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
        settings += enters(e, step) && has_numbers(e);
        if (has_numbers(e) && e->c->judgement.verdict == VERDICT_SAME)
            most = 0; /* the same operation: nothing to gain */
    }
    for (size_t i = 0; i < s->n; i++) {
        const struct evidence *e = &s->v[i];
        if (!enters(e, step))
            continue;
        if (e->c->effect.launches == 1)
            return NAN;
        if (has_numbers(e))
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

/* The words that all contrasts of the family share; each of the other words belongs to one config. */
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
    s->comparison.without_aa = true;
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

/* ==== advice ====
 *
 * Which settings are advised, which of them comes first, and the answer in words.
 */

static bool of_shape(const struct evidence *e, size_t shape)
{
    return e->counts && e->run->shape == shape;
}

/* ---- candidates ---- */

static bool better(const struct evidence *a, const struct evidence *b)
{
    return a->level != b->level ? a->level > b->level : evidence_gain_low(a) > evidence_gain_low(b);
}

static bool is_meant(const struct evidence *e, bool synthetic)
{
    return (e->level == LEVEL_SYNTHETIC) == synthetic;
}

struct candidate candidate_of(const struct steps_evidence *s, size_t shape, const char *config,
                              bool synthetic)
{
    struct candidate c = {.low = INFINITY, .high = -INFINITY};
    for (size_t i = 0; i < s->n; i++) {
        const struct evidence *e = &s->v[i];
        if (!of_shape(e, shape) || strcmp(e->c->config, config) != 0)
            continue;
        if (e->c->judgement.verdict == VERDICT_SLOWER)
            c.slower = e;
        if (is_meant(e, synthetic) && evidence_wins(e) && (!c.best || better(e, c.best)))
            c.best = e;
    }
    for (size_t i = 0; c.best && i < s->n; i++) {
        const struct evidence *e = &s->v[i];
        if (!of_shape(e, shape) || e->level != c.best->level || strcmp(e->c->config, config) != 0)
            continue;
        c.steps += has_numbers(e);
        if (!evidence_wins(e))
            continue;
        c.wins++;
        c.low = fmin(c.low, evidence_gain_low(e));
        c.high = fmax(c.high, evidence_gain_high(e));
    }
    return c;
}

/* Adds all advised settings. */
static void find_settings(struct words *configs, const struct steps_evidence *s, size_t shape,
                          bool synthetic)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct evidence *e = &s->v[i];
        if (of_shape(e, shape) && is_meant(e, synthetic) && evidence_wins(e) &&
            !candidate_of(s, shape, e->c->config, synthetic).slower)
            words_add_once(configs, e->c->config);
    }
}

/* Parts that the baseline does not have: bucket_cap=50 is one beside bucket_cap=25. */
static size_t changes(const struct contrast *c)
{
    AUTO(setting_free) struct setting s = {0};
    return setting_of(&s, c) ? setting_changes(&s) : 1;
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
        struct candidate c = candidate_of(s, shape, configs->v[i], false);
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

static bool find(const struct steps_evidence *s, size_t shape, bool synthetic,
                 struct candidate *out)
{
    AUTO_WORDS struct words configs = {0};
    *out = (struct candidate){0};
    find_settings(&configs, s, shape, synthetic);
    for (size_t i = 0; i < configs.n; i++) {
        struct candidate c = candidate_of(s, shape, configs.v[i], synthetic);
        if (c.best && (!out->best || better(c.best, out->best)))
            *out = c;
    }
    if (out->best && !synthetic)
        *out = simplest(s, shape, &configs, out);
    return out->best;
}

bool advice_find(const struct steps_evidence *s, size_t shape, struct candidate *out)
{
    return find(s, shape, false, out);
}

/* ---- what the steps say together ---- */

/* The steps of a shape: without synthetic ones if there are others. */
struct outlook {
    bool synthetic;               /* all are */
    size_t steps, bounded;        /* bounded: with an interval for every setting */
    double open;                  /* the largest gain that a bounded step leaves open */
    const struct evidence *small; /* the largest of the small gains; NULL: none */
    size_t smaller;               /* steps with a small gain */
};

static void take_small(struct outlook *o, const struct steps_evidence *s,
                       const struct evidence *step)
{
    bool any = false;
    for (size_t i = 0; i < s->n; i++) {
        const struct evidence *e = &s->v[i];
        if (!e->latest || e->c->judgement.small >= 0 || e->level != step->level ||
            !evidence_same_step(e, step))
            continue;
        any = true;
        if (!o->small || evidence_gain_low(e) > evidence_gain_low(o->small))
            o->small = e;
    }
    if (any)
        o->smaller++;
}

static struct outlook outlook_of(const struct steps_evidence *s, size_t shape)
{
    struct outlook o = {.synthetic = true};
    for (size_t i = 0; i < s->n; i++)
        o.synthetic =
            o.synthetic && (!of_shape(&s->v[i], shape) || s->v[i].level == LEVEL_SYNTHETIC);
    for (size_t i = 0; i < s->n; i++) {
        const struct evidence *e = &s->v[i];
        if (e->run->shape != shape || !opens_step(s, i) || !is_meant(e, o.synthetic))
            continue;
        double open = evidence_left_open(s, e);
        o.steps++;
        if (!isnan(open)) {
            o.bounded++;
            o.open = fmax(o.open, open);
        }
        take_small(&o, s, e);
    }
    return o;
}

/* ---- in words ---- */

static const char *const shown_in[LEVELS] = {
    [LEVEL_ALONE] = "",
    [LEVEL_SYNTHETIC] = "shown in synthetic steps only",
    [LEVEL_STEP] = "shown in replayed steps",
    [LEVEL_TRIAL] = "shown in a trial inside a job",
    [LEVEL_TRAINING] = "shown in training",
};

static void say_where(FILE *f, const struct steps_evidence *s, const struct candidate *c)
{
    enum { NAMED = 4 };
    size_t named = 0;
    for (size_t i = 0; i < s->n && named < NAMED; i++) {
        const struct evidence *e = &s->v[i];
        if (!of_shape(e, c->best->run->shape) || e->level != c->best->level || !evidence_wins(e) ||
            strcmp(e->c->config, c->best->c->config) != 0)
            continue;
        AUTO_FREE char *step = advice_step_name(s, e);
        fprintf(f, "%s%s", named++ ? ", " : " in ", step);
    }
    if (c->wins > named)
        fprintf(f, " and %zu more", c->wins - named);
}

/* Steps at the level of the candidate that never ran its setting. */
static size_t not_measured(const struct steps_evidence *s, const struct candidate *c)
{
    size_t steps = 0;
    for (size_t i = 0; i < s->n; i++)
        steps += s->v[i].run->shape == c->best->run->shape && s->v[i].level == c->best->level &&
                 opens_step(s, i);
    return steps > c->steps ? steps - c->steps : 0;
}

static void say_advised(FILE *f, const struct steps_evidence *s, size_t shape,
                        const struct candidate *c)
{
    const struct shape *at = &s->shapes[shape];
    char span[64];
    size_t missing = not_measured(s, c);
    fprintf(f, "Set %s for %s of %s", c->best->c->config,
            RANKS_ON(atoll(at->ranks), atoll(at->nodes)), at->platform);
    say_where(f, s, c);
    fprintf(f, ": %s shorter in %zu of %zu step%s, %s.",
            judgement_span(span, sizeof span, c->low, c->high), c->wins, c->steps,
            c->steps == 1 ? "" : "s", shown_in[c->best->level]);
    if (missing)
        fprintf(f, " %zu other step%s never ran it: no advice for %s.", missing,
                missing == 1 ? "" : "s", missing == 1 ? "it" : "them");
}

static bool any_win(const struct steps_evidence *s, size_t shape, bool synthetic)
{
    for (size_t i = 0; i < s->n; i++)
        if (of_shape(&s->v[i], shape) && is_meant(&s->v[i], synthetic) && evidence_wins(&s->v[i]))
            return true;
    return false;
}

static bool any_numbers(const struct steps_evidence *s, size_t shape)
{
    for (size_t i = 0; i < s->n; i++)
        if (of_shape(&s->v[i], shape) && has_numbers(&s->v[i]))
            return true;
    return false;
}

/* The run is complete with one launch, was interrupted, or never measured a setting beside auto. */
static void say_no_interval(FILE *f, const struct steps_evidence *s, size_t shape)
{
    const struct shape *at = &s->shapes[shape];
    const struct evidence *e = NULL;
    for (size_t i = 0; i < s->n; i++)
        if (of_shape(&s->v[i], shape) && (!e || s->v[i].c->effect.launches > e->c->effect.launches))
            e = &s->v[i];
    if (!e)
        return;
    fprintf(f, "Nothing was decided on %s (%s rank%s): %s. ", at->platform, at->ranks,
            strcmp(at->ranks, "1") ? "s" : "",
            e->c->effect.launches ? "one launch has no interval"
                                  : "no setting was measured together with its baseline");
    if (e->run->unfinished)
        fprintf(f, "To complete the run: gradsync resume %s", SHELL_WORD(e->run->dir));
    else
        fprintf(f, "Measure again with five launches, two at least: --set measure:launches=5");
}

/* The least gain that a verdict shows: the bound of equivalence, of whichever recording has the
 * widest. */
static double least_shown(const struct steps_evidence *s, size_t shape)
{
    double least = GAIN_LEAST;
    for (size_t i = 0; i < s->n; i++)
        if (of_shape(&s->v[i], shape))
            least = fmax(least, s->v[i].c->bound);
    return least;
}

static void say_small(FILE *f, const struct steps_evidence *s, const struct outlook *o)
{
    char span[64];
    if (!o->small)
        return;
    AUTO_FREE char *step = advice_step_name(s, o->small);
    fprintf(f,
            " Smaller gains were shown in %zu of %zu steps, the largest in %s: %s shortens it by "
            "%s.",
            o->smaller, o->steps, step, o->small->c->config,
            judgement_span(span, sizeof span, evidence_gain_low(o->small),
                           evidence_gain_high(o->small)));
}

static void say_open(FILE *f, const struct outlook *o)
{
    size_t open = o->steps - o->bounded;
    if (o->bounded && o->bounded == o->steps)
        fprintf(f, " A gain above %.1f%% is ruled out in %s.", 100 * o->open,
                o->steps == 1 ? "this step" : "each step");
    else if (o->bounded)
        fprintf(f, " A gain above %.1f%% is ruled out in %s%zu step%s.", 100 * o->open,
                o->bounded == 1 ? "" : "each of ", o->bounded, o->bounded == 1 ? "" : "s");
    if (open)
        fprintf(f,
                " Nothing is ruled out in %zu step%s where a setting has no interval, as after one "
                "launch.",
                open, open == 1 ? "" : "s");
}

/* A gain of more than this many times the bound of equivalence, left open: nothing was decided. */
#define UNDECIDED 10

static void say_nothing_shown(FILE *f, const struct steps_evidence *s, size_t shape,
                              const struct outlook *o)
{
    const struct shape *at = &s->shapes[shape];
    double least = least_shown(s, shape);
    bool undecided = o->open > UNDECIDED * least;
    fprintf(f,
            "%s: no setting was shown to shorten a %sstep by %.3g%% or more on %s (%s rank%s)%s.",
            undecided ? "Nothing was decided" : "Change nothing", o->synthetic ? "synthetic " : "",
            100 * least, at->platform, at->ranks, strcmp(at->ranks, "1") ? "s" : "",
            any_win(s, shape, o->synthetic) ? " without lengthening another" : "");
    say_small(f, s, o);
    if (undecided)
        fprintf(f,
                " A gain of %.1f%% is still possible: measure again, on an idle machine or with "
                "more launches.",
                100 * o->open);
    else
        say_open(f, o);
}

static void say_synthetic(FILE *f, const struct steps_evidence *s, size_t shape,
                          const struct candidate *c)
{
    const struct shape *at = &s->shapes[shape];
    char span[64];
    fprintf(f,
            "No advice from synthetic steps: %s is %s shorter in %zu of %zu of them on %s (%s "
            "rank%s), but only your own job tells whether its step gets shorter.",
            c->best->c->config, judgement_span(span, sizeof span, c->low, c->high), c->wins,
            c->steps, at->platform, at->ranks, strcmp(at->ranks, "1") ? "s" : "");
}

char *advice_sentence(const struct steps_evidence *s, size_t shape)
{
    struct candidate c;
    struct outlook o = outlook_of(s, shape);
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        abort();
    if (advice_find(s, shape, &c))
        say_advised(f, s, shape, &c);
    else if (!any_numbers(s, shape))
        say_no_interval(f, s, shape);
    else if (o.synthetic && find(s, shape, true, &c))
        say_synthetic(f, s, shape, &c);
    else
        say_nothing_shown(f, s, shape, &o);
    fclose(f);
    return text;
}

/* ---- what to do next ---- */

void advice_commands(struct words *commands, const struct steps_evidence *s, size_t shape)
{
    struct candidate c;
    if (advice_find(s, shape, &c))
        words_add(commands, "gradsync tune -- COMMAND");
    else if (!c.best && outlook_of(s, shape).synthetic)
        words_add(commands, ADVICE_ASK_YOUR_JOB);
}

bool advice_has_steps(const struct steps_evidence *s, size_t shape)
{
    for (size_t i = 0; i < s->n; i++)
        if (of_shape(&s->v[i], shape))
            return true;
    return false;
}

/* ---- advice table ---- */

const char *const advice_headings[ADVICE_COLUMNS] = {
    [ADVICE_STEP] = "step",
    [ADVICE_SETTING] = "setting",
    [ADVICE_GAIN] = "gain",
    [ADVICE_OPEN] = "left open",
    [ADVICE_LEVEL] = "level",
    [ADVICE_RAN_BASELINE] = "baseline ran",
    [ADVICE_RAN_SETTING] = "setting ran",
    [ADVICE_WORDS] = "advice",
};

/* What a row says first: wins of the advised setting, other wins, likely wins,
 * small gains, then what may
 * still win. */
static double rank(const struct evidence *e, const struct candidate *advised)
{
    enum verdict v = e->c->judgement.verdict;
    if (!has_numbers(e) || v == VERDICT_SLOWER || v == VERDICT_SAME)
        return -1;
    bool is_advised = advised->best && !strcmp(e->c->config, advised->best->c->config);
    if (v == VERDICT_INCONCLUSIVE && e->c->effect.value < -log1p(e->c->bound))
        return 7 + evidence_gain_low(e);
    if (e->c->judgement.small < 0)
        return 5 + evidence_gain_low(e);
    return (is_advised && evidence_wins(e) ? 20 : 0) +
           (evidence_wins(e) ? 10 + evidence_gain_low(e) : evidence_gain_high(e));
}

static const struct evidence *best_of_step(const struct steps_evidence *s, size_t first,
                                           const struct candidate *advised)
{
    const struct evidence *best = NULL;
    for (size_t i = first; i < s->n; i++)
        if (s->v[i].counts && evidence_same_step(&s->v[i], &s->v[first]) &&
            rank(&s->v[i], advised) >= 0 &&
            (!best || rank(&s->v[i], advised) > rank(best, advised)))
            best = &s->v[i];
    return best;
}

/* What a row says of a step that no setting shortens. */
static const char *none_shorter(const struct steps_evidence *s, const struct evidence *step)
{
    int launches = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!s->v[i].counts || !evidence_same_step(&s->v[i], step))
            continue;
        if (has_numbers(&s->v[i]))
            return "nothing is shorter";
        launches = s->v[i].c->effect.launches > launches ? s->v[i].c->effect.launches : launches;
    }
    return launches == 1 ? "inconclusive: one launch" : "inconclusive: no interval";
}

static bool same_section(const struct evidence *a, const struct evidence *b)
{
    return a->run->shape == b->run->shape && contrasts_of_one_section(a->c, b->c);
}

/* A trial's "step_size=1169072128". */
static bool repeats_size(const char *part, int64_t bytes)
{
    const char *value = strchr(part, '=');
    return value && bytes && strtoll(value + 1, NULL, 10) == bytes;
}

/* The row of a step is that of its first evidence, which may have another label or parameters. */
static const struct evidence *row_of(const struct steps_evidence *s, const struct evidence *e)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].counts && evidence_same_step(&s->v[i], e))
            return &s->v[i];
    return e;
}

char *advice_step_name(const struct steps_evidence *s, const struct evidence *of)
{
    const struct evidence *e = row_of(s, of);
    struct axes axes = {0};
    struct text t = {0};
    AUTO_WORDS struct words parts = {0};
    char size[32];
    bool labels_differ = false;
    for (size_t i = 0; i < s->n; i++) {
        if (same_section(&s->v[i], e))
            axes_add(&axes, e->step, s->v[i].step);
        labels_differ = labels_differ || strcmp(s->v[i].c->label, e->c->label);
    }
    AUTO_FREE char *where = axes_where(&axes, "", e->step);
    if (labels_differ && *e->c->label)
        text_addf(&t, "%s ", e->c->label);
    text_add(&t, e->c->size_B ? units_short_size(size, sizeof size, (uint64_t)e->c->size_B)
                 : e->level == LEVEL_TRAINING ? "job"
                                              : "step");
    words_split(&parts, where, ' ');
    for (size_t i = 0; i < parts.n; i++)
        if (strcmp(parts.v[i], "-") && !repeats_size(parts.v[i], e->c->size_B))
            text_addf(&t, " %s", parts.v[i]);
    return t.s;
}

static char *inconclusive(const struct contrast *c)
{
    const struct judgement *j = &c->judgement;
    if (judgement_is_hopeless(j, &c->effect, c->bound))
        return xstrfmt("%sgive up: more launches would most likely show less than %.3g%%",
                       c->effect.hi < 0 ? "shorter, but " : "", 100 * c->bound);
    return j->needed > 0 ? xstrfmt("inconclusive: %lld more launch%s", (long long)j->needed,
                                   j->needed == 1 ? "" : "es")
                         : xstrdup("inconclusive");
}

static char *standing(const struct steps_evidence *s, const struct evidence *e)
{
    struct candidate c = candidate_of(s, e->run->shape, e->c->config, false);
    const struct judgement *j = &e->c->judgement;
    if (evidence_wins(e) && c.slower) {
        AUTO_FREE char *where = advice_step_name(s, c.slower);
        return xstrfmt("not advised: slower at %s", where);
    }
    if (evidence_wins(e))
        return xstrdup(e->level == LEVEL_SYNTHETIC ? "shorter: ask your own job" : "advised");
    if (e->effect == EFFECT_IGNORED || e->effect == EFFECT_CLAMPED)
        return xstrfmt("not advised: %s by NCCL", setting_effects[e->effect]);
    if (j->verdict == VERDICT_FASTER)
        return xstrfmt("not advised: the gain may be below %.3g%%", 100 * GAIN_LEAST);
    if (j->verdict == VERDICT_INCONCLUSIVE)
        return inconclusive(e->c);
    return xstrdup(*j->reason ? j->reason : "no difference");
}

static void add_row(struct words *cells, const struct steps_evidence *s, const struct evidence *of,
                    const struct evidence *e)
{
    char span[64];
    double open = evidence_left_open(s, of);
    AUTO_FREE char *name = advice_step_name(s, of),
                   *what = e ? standing(s, e) : xstrdup(none_shorter(s, of));
    words_add(cells, name);
    words_add(cells, e ? e->c->config : of->c->baseline);
    words_add(cells,
              e ? judgement_span(span, sizeof span, evidence_gain_low(e), evidence_gain_high(e))
                : "-");
    if (isnan(open))
        words_add(cells, "-");
    else
        words_addf(cells, "%.1f%%", 100 * open);
    words_add(cells, level_names[of->level]);
    words_add(cells, e && *e->c->baseline_ran ? e->c->baseline_ran : "-");
    words_add(cells, e && *e->c->ran ? e->c->ran : "-");
    words_add(cells, what);
}

void advice_rows(struct words *cells, const struct steps_evidence *s, size_t shape)
{
    struct candidate advised;
    advice_find(s, shape, &advised);
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].run->shape == shape && opens_step(s, i))
            add_row(cells, s, &s->v[i], best_of_step(s, i, &advised));
}
