/* SPDX-License-Identifier: Apache-2.0 */
#include "curves/transitions_table.h"

#include "base/csv_read.h"
#include "base/err.h"
#include "base/screen.h"
#include "base/text.h"
#include "base/text_table.h"
#include "base/units.h"
#include "curves/transitions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column { PLATFORM, WORKLOAD, LABEL, CONFIG, MODE, KIND, VERDICT, TEXTS };
enum { FROM = TEXTS, TO, CHANGE };
static const char *const columns[] = {"platform", "workload", "label", "config", "mode", "kind",
                                      "verdict",  "from_B",   "to_B",  "change", NULL};

struct line {
    char *text[TEXTS]; /* owned */
    int64_t from_B, to_B;
    double change; /* NaN: the kind has none */
    size_t order;
    size_t alike; /* number of curves with this same row */
};

struct lines_of {
    struct line *v;
    size_t n, curves_refused;
    size_t rows;          /* read of the platform, those without a line included */
    const char *platform; /* NULL: any */
};

/* ---- reading ---- */

static bool is_kind(const char *word, enum transition_kind kind)
{
    return !strcmp(word, transition_names[kind]);
}

static void take_row(void *ctx, const struct csv_reader *r)
{
    struct lines_of *all = ctx;
    const char *kind = csv_read_text(r, KIND);
    if (all->platform && strcmp(csv_read_text(r, PLATFORM), all->platform) != 0)
        return;
    all->rows++;
    all->curves_refused += is_kind(kind, TRANSITION_REFUSED);
    if (is_kind(kind, TRANSITION_FIT) || is_kind(kind, TRANSITION_REFUSED))
        return;
    struct line *l = &APPEND(all->v, all->n);
    *l = (struct line){.from_B = csv_read_integer(r, FROM),
                       .to_B = csv_read_integer(r, TO),
                       .change = csv_read_real(r, CHANGE),
                       .order = all->n};
    for (size_t k = 0; k < TEXTS; k++)
        l->text[k] = xstrdup(csv_read_text(r, k));
}

/* A switch comes before the other kinds that have no change. */
static double weight(const struct line *l)
{
    return !isnan(l->change) ? fabs(l->change) : -1 - !is_kind(l->text[KIND], TRANSITION_SWITCH);
}

/* Recorded and confirmed first; then by the largest change. */
static int by_weight(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    bool p = transition_is_sure(x->text[VERDICT]), q = transition_is_sure(y->text[VERDICT]);
    double u = weight(x), v = weight(y);
    if (p != q)
        return p ? -1 : 1;
    return u != v ? (u > v ? -1 : 1) : x->order < y->order ? -1 : 1;
}

/* ---- rows that would read alike ---- */

static bool is_alike(const struct line *a, const struct line *b)
{
    for (size_t k = 0; k < TEXTS; k++)
        if (strcmp(a->text[k], b->text[k]) != 0)
            return false;
    return a->from_B == b->from_B && a->to_B == b->to_B && isnan(a->change) && isnan(b->change);
}

/* Curves of groups that differ in what the table has no column for. Returns the number of rows. */
static size_t fold(struct lines_of *all)
{
    size_t rows = 0;
    for (size_t i = 0; i < all->n; i++) {
        size_t first = 0;
        while (first < rows && !is_alike(&all->v[first], &all->v[i]))
            first++;
        if (first < rows) {
            all->v[first].alike++;
            continue;
        }
        struct line l = all->v[i];
        all->v[i] = all->v[rows];
        all->v[rows] = l;
        all->v[rows++].alike = 1;
    }
    return rows;
}

/* ---- printing ---- */

/* "recorded ×3" */
static bool is_sure(const char *verdict)
{
    AUTO_FREE char *word = xstrfmt("%.*s", (int)strcspn(verdict, " "), verdict);
    return transition_is_sure(word);
}

static void put_line(struct words *cells, const struct line *l)
{
    char low[32], high[32];
    words_add(cells, l->text[PLATFORM]);
    words_addf(cells, "%s%s%s", l->text[WORKLOAD], *l->text[LABEL] ? " " : "", l->text[LABEL]);
    words_add(cells, *l->text[CONFIG] ? l->text[CONFIG] : "-");
    words_add(cells, *l->text[MODE] ? l->text[MODE] : "-");
    words_add(cells, l->text[KIND]);
    units_human_size(low, sizeof low, (double)l->from_B);
    units_human_size(high, sizeof high, (double)l->to_B);
    words_addf(cells, "%s%s%s", low, l->from_B < l->to_B ? " .. " : "",
               l->from_B < l->to_B ? high : "");
    if (isnan(l->change))
        words_add(cells, "-");
    else
        words_addf(cells, "%+.0f%%", 100 * l->change);
    if (l->alike > 1)
        words_addf(cells, "%s ×%zu", l->text[VERDICT], l->alike);
    else
        words_add(cells, l->text[VERDICT]);
}

/* path: of the table; NULL: it is not kept. */
static void print(struct lines_of *all, const char *path, bool whole)
{
    static const char *const head[] = {"platform", "workload", "config", "mode",
                                       "kind",     "sizes",    "change", "verdict"};
    const size_t n = sizeof head / sizeof *head, most = screen_lines(stdout) - 3;
    const size_t rows = fold(all);
    size_t shown = whole || rows < most ? rows : most;
    AUTO_WORDS struct words cells = {0};
    for (size_t i = 0; i < n && shown; i++)
        words_add(&cells, head[i]);
    for (size_t i = 0; i < shown; i++)
        put_line(&cells, &all->v[i]);
    text_table_print(&cells, n, 2, is_sure);
    if (!all->n)
        printf("no transition found\n");
    if (shown < rows)
        printf("%zu more: --all\n", rows - shown);
    AUTO_FREE char *refused = xstrfmt("%zu curve%s too short or irregular%s%s", all->curves_refused,
                                      all->curves_refused == 1 ? " is" : "s are",
                                      path ? "; reasons and fits: " : "", path ? path : "");
    screen_say(refused);
}

int transitions_print(const char *dir, const char *platform, bool all, bool kept)
{
    struct lines_of lines = {.platform = platform};
    AUTO_FREE char *path = xstrfmt("%s/" TRANSITIONS_CSV, dir);
    int code = csv_read_each(path, columns, take_row, &lines);
    if (!code && platform && !lines.rows)
        code =
            fail_at(GS_FAILED, path, 0,
                    "has no row of platform '%s': its recordings have no curve, or were left out; "
                    "see what 'make tables' says",
                    platform);
    if (!code) {
        if (lines.n)
            qsort(lines.v, lines.n, sizeof *lines.v, by_weight);
        print(&lines, kept ? path : NULL, all);
    }
    for (size_t i = 0; i < lines.n; i++)
        for (size_t k = 0; k < TEXTS; k++)
            free(lines.v[i].text[k]);
    free(lines.v);
    return code;
}
