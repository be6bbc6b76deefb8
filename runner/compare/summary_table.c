/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/summary_table.h"

#include "base/screen.h"
#include "base/term.h"
#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sentences ---- */

/* The platform stands where it changes, the run where several answer the same question. */
static void add_name(struct text *t, const struct summary_rows *s, size_t at)
{
    const struct contrast *c = s->questions[at].of;
    bool twins = false;
    for (size_t i = 0; i < s->n_questions; i++)
        twins = twins || (i != at && contrasts_of_one_section(s->questions[i].of, c) &&
                          !strcmp(s->questions[i].of->mode, c->mode));
    if (!at || strcmp(s->questions[at - 1].of->platform, c->platform))
        text_addf(t, "%s ", c->platform);
    text_addf(t, "%s%s%s%s%s, %s%s%s: ", c->workload, *c->label ? " " : "", c->label,
              *c->mode ? " " : "", c->mode, level_names[contrast_level(c)], twins ? " " : "",
              twins ? c->run_id : "");
}

static void say_best(struct text *t, const struct summary_request *r, const struct question *q)
{
    const char *noun = contrast_level(q->of) > LEVEL_ALONE ? "steps" : "groups";
    AUTO_FREE char *base =
        r->best_of ? xstrfmt("best of %s", r->best_of) : xstrdup(q->of->baseline);
    if (q->faster)
        text_addf(t, "a config beats %s in %zu of %zu %s, %s by %.1f%%", base, q->faster, q->rows,
                  noun, q->largest->config, -100 * expm1(q->largest->effect.value));
    else
        text_addf(t, "%s is beaten in 0 of %zu %s", base, q->rows, noun);
    if (q->small)
        text_addf(t, ", by less than %.3g%% in %zu", 100 * q->of->bound, q->small);
    if (!q->faster)
        text_addf(t, ", confirmed best in %zu, undecided in %zu", q->settled, q->open);
}

static void say_each(struct text *t, const struct question *q)
{
    const char *base = q->of->baseline;
    size_t alike = q->rows - q->slower - q->faster - q->open;
    AUTO_FREE char *small = q->small ? xstrfmt(" (%zu of them shorter by less than %.3g%%)",
                                               q->small, 100 * q->of->bound)
                                     : xstrdup("");
    if (q->config)
        text_addf(t,
                  "%s is slower than %s in %zu of %zu, faster in %zu, equivalent in %zu%s, "
                  "undecided in %zu",
                  q->config, base, q->slower, q->rows, q->faster, alike, small, q->open);
    else
        text_addf(t, "%zu of %zu slower than %s, %zu faster, %zu equivalent%s, %zu undecided",
                  q->slower, q->rows, base, q->faster, alike, small, q->open);
}

static struct text sentence(const struct summary_request *r, const struct summary_rows *s,
                            size_t at)
{
    struct text t = {0};
    const struct question *q = &s->questions[at];
    add_name(&t, s, at);
    if (r->winners)
        say_best(&t, r, q);
    else
        say_each(&t, q);
    return t;
}

static void print_sentence(const struct summary_request *r, const struct summary_rows *s, size_t at)
{
    AUTO_TEXT struct text t = sentence(r, s, at);
    printf("%s", term_bold(stdout));
    screen_wrap(0, 2, screen_columns(stdout), t.s);
    printf("%s", term_end(stdout));
}

/* ---- lines ---- */

enum { WHERE, CONFIG, CHANGE, FLOOR, VERDICT, SLOWER, ALIKE, COLUMNS };
static const char *const of_best[COLUMNS] = {
    "where", "fastest", "change [95%]", "A/A", "verdict", "slower", "not distinguishable from"};
static const char *const of_each[COLUMNS] = {"where",   "config", "change [95%]", "A/A",
                                             "verdict", "",       "note"};

/* "-15.3% [-16.0, -14.5]" */
static const char *change(const struct contrast *c, char *buf, size_t n)
{
    const struct effect *e = &c->effect;
    if (isnan(e->value))
        snprintf(buf, n, "-");
    else
        snprintf(buf, n, "%+.1f%% [%+.1f, %+.1f]", 100 * expm1(e->value), 100 * expm1(e->lo),
                 100 * expm1(e->hi));
    return buf;
}

static const char *verdict_of(const struct summary_row *r)
{
    if (r->w && !r->w->best)
        return r->w->small ? "small" : winner_is_confirmed(r->w) ? "confirmed" : "undecided";
    enum verdict v = r->c->judgement.verdict;
    return v == VERDICT_INCONCLUSIVE ? "undecided" : v == VERDICT_SAME ? "same" : verdict_names[v];
}

static void add_alike(struct words *cells, const struct summary_row *r)
{
    AUTO_TEXT struct text t = {0};
    const char *why = r->c->judgement.reason;
    if (!r->w) {
        words_add(cells, "");
        words_addf(cells, "%s%s%s", why, *why && r->c->note ? "; " : "",
                   r->c->note ? r->c->note : "");
        return;
    }
    words_addf(cells, "%zu/%zu", r->w->counts[VERDICT_SLOWER], r->w->rivals);
    for (size_t i = 0; i < r->w->alike.n; i++)
        text_addf(&t, "%s%s", i ? ", " : "", r->w->alike.v[i]);
    words_add(cells, t.len ? t.s : "-");
}

static void add_cells(struct words *cells, const struct summary_rows *s,
                      const struct summary_row *r)
{
    char buf[96];
    const struct contrast *c = r->c;
    AUTO_FREE char *where = axes_where(&s->questions[r->question].axes, "", c->params);
    bool placed = strcmp(where, "-") != 0;
    const char *size = c->size_B ? SHORT_SIZE(c->size_B) : "";
    words_addf(cells, "%s%s%s", size, *size && placed ? " " : "", placed || !*size ? where : "");
    words_add(cells, r->w ? winner_shown(r->w) : c->config);
    words_add(cells, r->w && !r->w->best && !r->w->small ? "-" : change(c, buf, sizeof buf));
    if (isnan(c->floor))
        words_add(cells, c->no_floor ? "no floor" : "-");
    else
        words_addf(cells, "%.1f%%", 100 * expm1(c->floor));
    words_add(cells, verdict_of(r));
    add_alike(cells, r);
}

/* Adds the words of a list that fit the screen, and the number of the others. */
static void add_list(struct text *t, const char *list)
{
    AUTO_WORDS struct words w = {0};
    words_split(&w, list, ',');
    size_t columns = screen_columns(stdout), width = text_width(t->s), used = 0, i = 0,
           room = width < columns ? columns - width : 0;
    for (; i < w.n; i++) {
        size_t n = text_width(w.v[i]) + (i ? 2 : 0), more = i + 1 < w.n ? strlen(" +99") : 0;
        if (used + n + more > room)
            break;
        text_addf(t, "%s%s", i ? ", " : "", w.v[i]);
        used += n;
    }
    if (i < w.n)
        text_addf(t, "%s%zu", i ? " +" : "", w.n - i);
}

/* Columns before the last. A width of 0: the column is left out. */
static size_t taken(const size_t *width)
{
    size_t n = 2;
    for (size_t k = 0; k < ALIKE; k++)
        n += width[k] ? 2 + width[k] : 0;
    return n;
}

/* On a narrow screen columns are left out, the least important first. */
static void fit(size_t *width)
{
    static const int order[] = {FLOOR, SLOWER};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (taken(width) + strlen("ties") > screen_columns(stdout))
            width[order[i]] = 0;
}

static void print_line(const char *const *cell, const size_t *width, bool title, bool list)
{
    AUTO_TEXT struct text t = {0};
    const size_t room = screen_columns(stdout);
    for (size_t k = 0; k < ALIKE; k++)
        if (width[k])
            text_addf(&t, "  %s%*s", cell[k], (int)(width[k] - text_width(cell[k])), "");
    text_add(&t, "  ");
    if (list)
        add_list(&t, cell[ALIKE]);
    else if (title && taken(width) + text_width(cell[ALIKE]) > room)
        text_add(&t, "ties"); /* shorter, where there is no room */
    else if (title || taken(width) < room)
        text_add(&t, cell[ALIKE]);
    while (t.len && t.s[t.len - 1] == ' ')
        t.s[--t.len] = '\0';
    bool won = !title && !strcmp(cell[VERDICT], verdict_names[VERDICT_FASTER]),
         lost = !title && !strcmp(cell[VERDICT], verdict_names[VERDICT_SLOWER]);
    printf("%s", won ? term_colour(stdout, 3) : lost ? term_warn(stdout) : "");
    screen_put(t.s);
    printf("%s", won || lost ? term_end(stdout) : "");
}

static void print_question(const struct summary_rows *s, const struct question *q,
                           const struct summary_row *rows, bool titled)
{
    const char *const *titles = rows->w ? of_best : of_each;
    AUTO_WORDS struct words cells = {0};
    size_t width[COLUMNS];
    for (size_t k = 0; k < q->rows; k++)
        add_cells(&cells, s, &rows[k]);
    for (size_t k = 0; k < COLUMNS; k++)
        width[k] = text_width(titles[k]);
    for (size_t i = 0; i < cells.n; i++) {
        size_t w = text_width(cells.v[i]);
        width[i % COLUMNS] = w > width[i % COLUMNS] ? w : width[i % COLUMNS];
    }
    fit(width);
    if (titled)
        print_line(titles, width, true, false);
    for (size_t k = 0; k < q->rows; k++)
        print_line((const char *const *)cells.v + k * COLUMNS, width, false, rows->w);
}

/* A config wins in a step: it may lengthen another. */
static const struct question *winning_step(const struct summary_rows *s)
{
    for (size_t i = 0; i < s->n_questions; i++)
        if (s->questions[i].faster && contrast_level(s->questions[i].of) > LEVEL_ALONE)
            return &s->questions[i];
    return NULL;
}

void summary_print(const struct summary_request *q)
{
    AUTO(summary_rows_free) struct summary_rows s = {0};
    summary_rows_find(&s, q);
    for (size_t i = 0, first = 0; i < s.n_questions; first += s.questions[i++].rows) {
        print_sentence(q, &s, i);
        print_question(&s, &s.questions[i], &s.rows[first], !i);
    }
    if (s.n < q->shown->n)
        printf("--all prints every contrast; --size, --mode, --config choose\n");
    const struct question *won = winning_step(&s);
    if (q->winners && won)
        printf("What to set: gradsync advise %s\n", won->of->platform);
}
