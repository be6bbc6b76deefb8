/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/value.h"

#include "base/err.h"
#include "base/text.h"
#include "publish/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- counts ---- */

static int count_rows(struct answer *a, const char *rest, struct place at)
{
    (void)rest;
    (void)at;
    a->v[0] = (double)a->rows.n;
    a->n_v = 1;
    a->plain = xstrfmt("%zu", a->rows.n);
    return GS_OK;
}

/* Adds a text that is not there yet. */
static void add_once(struct words *w, const char *s)
{
    for (size_t i = 0; i < w->n; i++)
        if (!strcmp(w->v[i], s))
            return;
    w->v = xrealloc(w->v, (w->n + 1) * sizeof *w->v);
    w->v[w->n++] = xstrdup(s);
}

static int collect(struct words *out, const struct answer *a, const char *keys, struct place at)
{
    struct words k;
    char buf[256];
    int code = GS_OK;
    words_split(&k, keys, ' ');
    for (size_t i = 0; i < k.n && !code; i++)
        code = select_key(a->grid, k.v[i], at);
    for (size_t r = 0; r < a->rows.n && !code; r++) {
        struct text t = {0};
        text_add(&t, "");
        for (size_t i = 0; i < k.n; i++) {
            const char *v = grid_get(a->grid, a->rows.rows[r], k.v[i], buf, sizeof buf);
            text_addf(&t, "%s%s", i ? " " : "", v ? v : "");
        }
        add_once(out, t.s);
        text_free(&t);
    }
    words_free(&k);
    return code;
}

static int count_groups(struct answer *a, const char *keys, struct place at)
{
    struct words w = {0};
    int code = collect(&w, a, keys, at);
    a->v[0] = (double)w.n;
    a->n_v = 1;
    a->plain = xstrfmt("%zu", w.n);
    words_free(&w);
    return code;
}

static int sum_rows(struct answer *a, const char *column, struct place at)
{
    int code = select_key(a->grid, column, at);
    for (size_t i = 0; i < a->rows.n && !code; i++) {
        double v = grid_real(a->grid, a->rows.rows[i], column);
        a->v[0] += isfinite(v) ? v : 0;
    }
    a->n_v = 1;
    a->plain = xstrfmt("%.12g", a->v[0]);
    return code;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_distinct(struct answer *a, const char *key, struct place at)
{
    struct words w = {0};
    struct text t = {0};
    int code = collect(&w, a, key, at);
    if (w.n)
        qsort(w.v, w.n, sizeof *w.v, by_text);
    text_clear(&t);
    text_add(&t, "");
    for (size_t i = 0; i < w.n; i++)
        text_addf(&t, "%s%s", i ? ", " : "", w.v[i]);
    a->plain = t.s;
    words_free(&w);
    return code;
}

/* ---- one row ---- */

static int only_row(struct answer *a, struct place at)
{
    if (a->rows.n == 1)
        return GS_OK;
    char *differ = book_differences(a->grid, &a->rows);
    int code = fail_at(GS_USAGE, at.file, at.line,
                       "%s: %zu rows of %s are meant, and they differ in %s; name one more of them",
                       a->macro->field[DEF_NAME], a->rows.n, a->grid->name, differ);
    free(differ);
    return code;
}

/* "min COLUMN" or "max COLUMN": leaves the row where it is so. */
static int extreme_row(struct answer *a, const char *which, struct place at)
{
    bool max = !strncmp(which, "max ", 4);
    const char *column = which + 4;
    double best = NAN;
    size_t row = 0;
    if (!max && strncmp(which, "min ", 4) != 0)
        return fail_at(GS_USAGE, at.file, at.line,
                       "'at %s' is neither 'at min COLUMN' nor "
                       "'at max COLUMN'",
                       which);
    int code = select_key(a->grid, column, at);
    for (size_t i = 0; i < a->rows.n; i++) {
        double v = grid_real(a->grid, a->rows.rows[i], column);
        if (isfinite(v) && (!isfinite(best) || (max ? v > best : v < best))) {
            best = v;
            row = a->rows.rows[i];
        }
    }
    if (!isfinite(best) && !a->gap)
        a->gap = xstrfmt("no row has a %s", column);
    a->rows.rows[0] = row;
    a->rows.n = 1;
    return code;
}

static void read_numbers(struct answer *a, const struct words *columns)
{
    char buf[256];
    for (size_t i = 0; i < columns->n; i++) {
        const char *s = grid_get(a->grid, a->rows.rows[0], columns->v[i], buf, sizeof buf);
        char *end = NULL;
        a->v[i] = s && *s ? strtod(s, &end) : NAN;
        if (end && *end)
            a->v[i] = NAN;
    }
    a->n_v = columns->n;
}

static int read_columns(struct answer *a, const char *list, struct place at)
{
    struct words w;
    char buf[256];
    int code = GS_OK;
    words_split(&w, list, ',');
    if (w.n != 1 && w.n != 3)
        code = fail_at(GS_USAGE, at.file, at.line,
                       "'%s' is neither one column nor a value and the "
                       "two ends of its interval",
                       list);
    for (size_t i = 0; i < w.n && !code; i++)
        code = select_key(a->grid, w.v[i], at);
    if (!code) {
        const char *s = grid_get(a->grid, a->rows.rows[0], w.v[0], buf, sizeof buf);
        a->plain = xstrdup(s ? s : "");
        read_numbers(a, &w);
    }
    words_free(&w);
    return code;
}

/* ---- all of them ---- */

static const struct {
    const char *word;
    int (*work)(struct answer *a, const char *rest, struct place at);
} kinds[] = {{"count", count_rows},
             {"groups", count_groups},
             {"sum", sum_rows},
             {"distinct", list_distinct}};

int value_of_rows(struct answer *a, struct place at)
{
    const char *value = a->macro->field[DEF_VALUE], *which = strstr(value, " at ");
    size_t first = strcspn(value, " ");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].word) == first && !strncmp(value, kinds[i].word, first))
            return kinds[i].work(a, value + first + (value[first] == ' '), at);
    char *columns = which ? xstrfmt("%.*s", (int)(which - value), value) : xstrdup(value);
    int code = which ? extreme_row(a, which + 4, at) : only_row(a, at);
    if (!code)
        code = read_columns(a, columns, at);
    free(columns);
    return code;
}
