/* SPDX-License-Identifier: Apache-2.0
 *
 * The advice in the terminal.
 */
#include "advise/advice.h"
#include "advise/conditions.h"
#include "base/err.h"
#include "base/screen.h"
#include "base/shell_quote.h"
#include "base/text_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ADVICE_MIN 22 /* columns of a screen for the advice */

/* "LL128" of RING/LL128 beside RING/SIMPLE. */
static const char *protocol_if_alone(const char *a, const char *b)
{
    size_t n = strcspn(b, "/");
    return b[n] && !strncmp(a, b, n + 1) ? b + n + 1 : b;
}

/* Both sides in one, with the number of CTAs: "RING/LL 24 -> 8", "RING/LL 24 -> TREE/LL 24". */
static void add_ran(struct words *cells, const char *baseline, const char *setting)
{
    char a[2][64], b[2][32];
    bool pair = sscanf(baseline, "%63[^ ,|] ctas=%31[0-9]", a[0], b[0]) == 2 &&
                sscanf(setting, "%63[^ ,|] ctas=%31[0-9]", a[1], b[1]) == 2 &&
                !strpbrk(baseline, ",|") && !strpbrk(setting, ",|");
    if (!pair)
        words_addf(cells, "%s%s%s", baseline, strcmp(baseline, setting) ? " -> " : "",
                   strcmp(baseline, setting) ? setting : "");
    else if (strcmp(a[0], a[1]) != 0)
        words_addf(cells, "%s %s -> %s %s", a[0], b[0], protocol_if_alone(a[0], a[1]), b[1]);
    else
        words_addf(cells, "%s %s%s%s", a[0], b[0], strcmp(b[0], b[1]) ? " -> " : "",
                   strcmp(b[0], b[1]) ? b[1] : "");
}

static bool one_level(const struct words *rows)
{
    for (size_t i = 2 * ADVICE_COLUMNS; i < rows->n; i += ADVICE_COLUMNS)
        if (strcmp(rows->v[i + ADVICE_LEVEL], rows->v[ADVICE_COLUMNS + ADVICE_LEVEL]))
            return false;
    return rows->n > ADVICE_COLUMNS;
}

/* Nothing does where MPI or a command of the user communicates. */
static bool any_ran(const struct words *rows)
{
    for (size_t i = ADVICE_COLUMNS; i < rows->n; i += ADVICE_COLUMNS)
        if (strcmp(rows->v[i + ADVICE_RAN_BASELINE], "-") ||
            strcmp(rows->v[i + ADVICE_RAN_SETTING], "-"))
            return true;
    return false;
}

/* The cells of the rows, with one column of what NCCL ran. Returns the number of columns. */
static size_t arrange(struct words *cells, const struct words *rows, bool level, bool ran)
{
    for (size_t i = 0; i < rows->n; i += ADVICE_COLUMNS) {
        for (size_t k = 0; k < ADVICE_RAN_BASELINE; k++)
            if (k != ADVICE_LEVEL || level)
                words_add(cells, rows->v[i + k]);
        if (ran && !i)
            words_add(cells, "NCCL ran, CTAs");
        else if (ran)
            add_ran(cells, rows->v[i + ADVICE_RAN_BASELINE], rows->v[i + ADVICE_RAN_SETTING]);
        words_add(cells, rows->v[i + ADVICE_WORDS]);
    }
    return ADVICE_COLUMNS - (level ? 1U : 2U) - (ran ? 0U : 1U);
}

/* Leaves out `what`, or puts `with` in its place. */
static void replace(char **cell, const char *what, const char *with)
{
    char *at = strstr(*cell, what);
    if (!at)
        return;
    char *text = xstrfmt("%.*s%s%s", (int)(at - *cell), *cell, with, at + strlen(what));
    free(*cell);
    *cell = text;
}

/* For a terminal that is too narrow even for fewer columns. */
static void shorten(struct words *cells)
{
    for (size_t i = 0; i < cells->n; i++) {
        replace(&cells->v[i], "undecided: ", "");
        replace(&cells->v[i], "nothing is shorter", "nothing shorter");
        replace(&cells->v[i], " to ", "..");
    }
}

static bool too_wide(const struct words *cells, size_t columns)
{
    return isatty(fileno(stdout)) &&
           text_table_before_last(cells, columns) + ADVICE_MIN > screen_columns(stdout);
}

/* A terminal that is too narrow gets the level above the rows, or does without what NCCL ran. */
static void print_rows(const struct words *rows)
{
    static const struct {
        bool level, ran;
    } ways[] = {{true, true}, {false, true}, {true, false}, {false, false}};
    AUTO_WORDS struct words cells = {0};
    size_t columns = 0, way = 0, n = sizeof ways / sizeof *ways;
    for (size_t i = 0; i < n && (!i || too_wide(&cells, columns)); i++) {
        if (!ways[i].level && !one_level(rows))
            continue;
        words_free(&cells);
        cells = (struct words){0};
        columns = arrange(&cells, rows, ways[i].level, ways[i].ran && any_ran(rows));
        way = i;
    }
    if (too_wide(&cells, columns))
        shorten(&cells);
    if (!ways[way].level)
        printf("level of evidence of all rows: %s\n", rows->v[ADVICE_COLUMNS + ADVICE_LEVEL]);
    text_table_print(&cells, columns, 1, NULL);
}

/* The winner with the largest gain that is not advised since it lengthens another step. */
static const struct evidence *find_withheld(const struct steps_evidence *s, size_t shape)
{
    struct candidate advised;
    const struct evidence *most = NULL;
    double beyond = advice_find(s, shape, &advised) ? evidence_gain_low(advised.best) : 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct evidence *e = &s->v[i];
        if (e->counts && e->run->shape == shape && e->level > LEVEL_SYNTHETIC && evidence_wins(e) &&
            evidence_gain_low(e) > beyond && candidate_of(s, shape, e->c->config, false).slower) {
            beyond = evidence_gain_low(e);
            most = e;
        }
    }
    return most;
}

/* "Not advised: ctas=16, although 14.5 to 16.0% shorter in A: it is slower in B." */
static void say_withheld(const struct steps_evidence *s, size_t shape)
{
    const struct evidence *e = find_withheld(s, shape);
    char span[64];
    if (!e)
        return;
    AUTO_FREE char *in = advice_step_name(s, e),
                   *at = advice_step_name(s, candidate_of(s, shape, e->c->config, false).slower);
    AUTO_FREE char *line = xstrfmt(
        "Not advised: %s, although %s shorter in %s: it is slower in %s. For such a step "
        "alone: gradsync compare %s",
        e->c->config, advice_span(span, sizeof span, evidence_gain_low(e), evidence_gain_high(e)),
        in, at, e->c->platform);
    screen_say(line);
}

static void say_advice(const struct steps_evidence *s, size_t shape)
{
    AUTO_FREE char *text = advice_sentence(s, shape);
    screen_say(text);
}

static void say_conditions(const struct steps_evidence *s, size_t shape)
{
    struct candidate c;
    AUTO_FREE char *line =
        conditions_sentence(s, shape, advice_find(s, shape, &c) ? c.best->c->config : NULL);
    if (*line)
        screen_say(line);
}

static void print_commands(const struct steps_evidence *s, size_t shape)
{
    AUTO_WORDS struct words commands = {0};
    advice_commands(&commands, s, shape);
    for (size_t i = 0; i < commands.n; i++)
        printf("Next: %s\n", commands.v[i]);
}

static void print_shape(const struct steps_evidence *s, size_t shape)
{
    AUTO_WORDS struct words cells = {0};
    for (int i = 0; i < ADVICE_COLUMNS; i++)
        words_add(&cells, advice_headings[i]);
    advice_rows(&cells, s, shape);
    say_advice(s, shape);
    say_conditions(s, shape);
    say_withheld(s, shape);
    print_commands(s, shape);
    printf("\n");
    print_rows(&cells);
}

/* Those that did not replace an older, complete run of the same. */
static void say_unfinished(const struct steps_evidence *s)
{
    AUTO_WORDS struct words dirs = {0};
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; s->v[i].run->unfinished && k < s->n; k++)
            if (!s->v[k].run->unfinished && evidence_same_step(&s->v[i], &s->v[k]) &&
                !strcmp(s->v[i].c->config, s->v[k].c->config) &&
                strcmp(s->v[i].c->run_id, s->v[k].c->run_id) > 0)
                words_add_once(&dirs, s->v[i].run->dir);
    for (size_t i = 0; i < dirs.n; i++)
        say("advise: without a newer run that is unfinished (to complete it: gradsync resume %s)",
            SHELL_WORD(dirs.v[i]));
}

/* The contrast of imported iteration times with the largest gain; NULL: there are none. */
static const struct contrast *find_imported(const struct steps_evidence *s)
{
    const struct contrast *most = NULL;
    for (size_t i = 0; i < s->comparison.n; i++) {
        const struct contrast *c = &s->comparison.v[i];
        if (evidence_is_imported(c) && (!most || c->effect.value < most->effect.value))
            most = c;
    }
    return most;
}

/* Why recordings without steps of gradsync's own lead to no advice. */
static void say_none(const struct steps_evidence *s)
{
    const struct contrast *c = find_imported(s);
    char span[64] = "";
    if (c && c->judgement.verdict == VERDICT_FASTER)
        advice_span(span, sizeof span, -expm1(c->effect.hi), -expm1(c->effect.lo));
    AUTO_FREE char *shorter = *span ? xstrfmt("%s %s shorter than %s", c->config, span, c->baseline)
                              : c   ? xstrfmt("nothing shorter than %s", c->baseline)
                                    : NULL;
    AUTO_FREE char *line =
        c ? xstrfmt("No advice for %s: the imported iteration times show %s, but gradsync advises "
                    "only from its own recordings, whose configs share blocks or launches.",
                    s->platforms, shorter)
          : xstrfmt("No advice for %s: no training step was compared with auto there, and a "
                    "collective alone does not tell whether a step gets shorter.",
                    s->platforms);
    screen_say(line);
    printf("Next: %s\n", ADVICE_ASK_YOUR_JOB);
}

void advice_print(const struct steps_evidence *s)
{
    say_unfinished(s);
    if (!s->n)
        say_none(s);
    for (size_t i = 0; i < s->n_shapes; i++) {
        if (!advice_has_steps(s, i))
            continue;
        printf("%s", i ? "\n" : "");
        print_shape(s, i);
    }
}
