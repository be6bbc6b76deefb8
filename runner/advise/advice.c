/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/advice.h"
#include "base/shell_quote.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool of_shape(const struct evidence *e, size_t shape)
{
    return e->counts && e->run->shape == shape;
}

/* The largest gain that is not excluded, of settings without a verdict against them; NAN: there is
 * no number. */
static double left_open(const struct steps_evidence *s, size_t shape)
{
    double most = NAN;
    for (size_t i = 0; i < s->n; i++) {
        const struct evidence *e = &s->v[i];
        enum verdict v = e->c->judgement.verdict;
        if (of_shape(e, shape) && evidence_has_numbers(e) && v != VERDICT_SAME &&
            !candidate_of(s, shape, e->c->config).slower)
            most = fmax(most, fmax(0, evidence_gain_high(e)));
    }
    return most;
}

/* ---- in words ---- */

const char *advice_span(char *buf, size_t n, double low, double high)
{
    snprintf(buf, n, "%.1f to %.1f%%", 100 * low, 100 * high);
    return buf;
}

char *advice_next(const struct evidence *e)
{
    struct setting setting;
    if (e->level == LEVEL_TRAINING)
        return xstrdup("");
    /* What only the program can set is in no form: a config of `train` would compare nothing. */
    if (!setting_of(&setting, e->c) || (e->level < LEVEL_TRIAL && *setting.rest))
        return xstrdup("");
    if (e->level == LEVEL_TRIAL || !setting_is_tunable(&setting, e->c))
        return xstrdup("gradsync train CONFIG (docs/training.md)");
    return xstrfmt("gradsync trial --arms %s -- COMMAND", e->c->config);
}

static const char *const shown_in[LEVELS] = {
    [LEVEL_ALONE] = "",
    [LEVEL_SYNTHETIC] = "shown in synthetic steps only",
    [LEVEL_STEP] = "shown in replayed steps",
    [LEVEL_TRIAL] = "shown in a trial inside a job",
    [LEVEL_TRAINING] = "shown in training",
};

/* Steps at the level of e in which its setting has no numbers. */
static size_t not_measured(const struct steps_evidence *s, const struct evidence *e,
                           size_t measured)
{
    size_t steps = 0;
    for (size_t i = 0; i < s->n; i++)
        steps += s->v[i].run->shape == e->run->shape && s->v[i].level == e->level &&
                 evidence_opens_step(s, i);
    return steps > measured ? steps - measured : 0;
}

static void say_advised(FILE *f, const struct steps_evidence *s, size_t shape,
                        const struct candidate *c)
{
    const struct shape *at = &s->shapes[shape];
    char span[64];
    size_t missing = not_measured(s, c->best, c->steps);
    fprintf(f, "%s %s for %s of %s: %s shorter in %zu of %zu step%s",
            c->best->level == LEVEL_SYNTHETIC ? "Try" : "Set", c->best->c->config,
            RANKS_ON(atoll(at->ranks), atoll(at->nodes)), at->platform,
            advice_span(span, sizeof span, c->low, c->high), c->wins, c->steps,
            c->steps == 1 ? "" : "s");
    if (missing)
        fprintf(f, " (%zu more did not measure it)", missing);
    fprintf(f, ", %s.", shown_in[c->best->level]);
}

static bool any_win(const struct steps_evidence *s, size_t shape)
{
    for (size_t i = 0; i < s->n; i++)
        if (of_shape(&s->v[i], shape) && evidence_wins(&s->v[i]))
            return true;
    return false;
}

static bool any_numbers(const struct steps_evidence *s, size_t shape)
{
    for (size_t i = 0; i < s->n; i++)
        if (of_shape(&s->v[i], shape) && evidence_has_numbers(&s->v[i]))
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

/* What to do without advice: "Leave NCCL alone", "Keep bucket_cap=25"; "Change nothing" where the
 * recordings do not share one baseline. */
static void say_what_stays(FILE *f, const struct steps_evidence *s, size_t shape)
{
    const struct evidence *first = NULL;
    struct setting setting;
    bool differ = false, training = false;
    for (size_t i = 0; i < s->n; i++) {
        const struct evidence *e = &s->v[i];
        if (!of_shape(e, shape))
            continue;
        first = first ? first : e;
        differ = differ || strcmp(e->c->baseline, first->c->baseline);
        training = training || e->level == LEVEL_TRAINING;
    }
    if (differ)
        fprintf(f, "Change nothing");
    else if (training)
        fprintf(f, "Keep %s", first->c->baseline);
    else
        fprintf(f, "Leave %s alone", first && setting_of(&setting, first->c) ? "NCCL" : "MPI");
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

/* A gain of more than this many times the bound of equivalence, left open: nothing was decided. */
#define UNDECIDED 10

static void say_left_alone(FILE *f, const struct steps_evidence *s, size_t shape)
{
    const struct shape *at = &s->shapes[shape];
    double open = left_open(s, shape), least = least_shown(s, shape);
    bool undecided = open > UNDECIDED * least;
    if (!any_numbers(s, shape)) {
        say_no_interval(f, s, shape);
        return;
    }
    if (undecided)
        fprintf(f, "Nothing was decided");
    else
        say_what_stays(f, s, shape);
    fprintf(f,
            ": no setting was shown to shorten a step by %.3g%% or more on %s (%s "
            "rank%s)%s; ",
            100 * least, at->platform, at->ranks, strcmp(at->ranks, "1") ? "s" : "",
            any_win(s, shape) ? " without lengthening another" : "");
    if (undecided)
        fprintf(f,
                "a gain of %.1f%% is still possible: measure again, on an idle machine or with "
                "more launches.",
                100 * open);
    else if (!isnan(open))
        fprintf(f, "the largest possible gain left open is %.1f%%.", 100 * open);
    else
        fprintf(f, "none is left open.");
}

char *advice_sentence(const struct steps_evidence *s, size_t shape)
{
    struct candidate c;
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        abort();
    if (advice_find(s, shape, &c))
        say_advised(f, s, shape, &c);
    else
        say_left_alone(f, s, shape);
    fclose(f);
    return text;
}
