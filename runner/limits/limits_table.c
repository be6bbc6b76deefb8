/* SPDX-License-Identifier: Apache-2.0 */
#include "limits/limits_table.h"

#include "base/csv_read.h"
#include "base/text.h"
#include "base/text_table.h"
#include "base/units.h"
#include "limits/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLAIM_WIDTH 46

enum column {
    PLATFORM,
    KIND,
    CLAIM,
    SOURCE,
    QUANTITY,
    UNIT,
    LIMIT_SOURCE,
    VERDICT,
    TEXTS,
    VALUE = TEXTS,
    LIMIT,
    FRACTION
};
static const char *const columns[] = {"platform", "kind",  "claim",        "source",
                                      "quantity", "unit",  "limit_source", "verdict",
                                      "value",    "limit", "fraction",     NULL};

struct line {
    char *text[TEXTS]; /* owned */
    double value, limit, fraction;
    size_t severity, rows, order; /* rows of the table that it stands for */
};

struct lines_of {
    struct line *v;
    size_t n;
    const struct words *platforms;
};

/* ---- reading ---- */

/* The worst first. */
static size_t severity_of(const char *verdict)
{
    static const enum limits_verdict worst[] = {
        LIMIT_IMPOSSIBLE, LIMIT_NO_COLLECTIVE, DATA_CONTRADICTED, DATA_UNSUPPORTED, DATA_IN_PART,
        LIMIT_AT,         DATA_SUPPORTED,      LIMIT_POSSIBLE};
    size_t i = 0;
    while (i < sizeof worst / sizeof *worst && strcmp(verdict, limits_verdicts[worst[i]]))
        i++;
    return i;
}

static bool is_published(const struct line *l)
{
    return !strcmp(l->text[KIND], "published");
}

/* The line that a measured row belongs to; NULL: it begins one, as every published row does. */
static struct line *line_of(const struct lines_of *all, const struct csv_reader *r)
{
    static const enum column same[] = {KIND, PLATFORM, QUANTITY, VERDICT};
    if (strcmp(csv_read_text(r, KIND), "measured"))
        return NULL;
    for (size_t i = 0; i < all->n; i++) {
        size_t k = 0;
        while (k < 4 && !strcmp(all->v[i].text[same[k]], csv_read_text(r, same[k])))
            k++;
        if (k == 4)
            return &all->v[i];
    }
    return NULL;
}

static void take_row(void *ctx, const struct csv_reader *r)
{
    struct lines_of *all = ctx;
    if (!words_has(all->platforms, csv_read_text(r, PLATFORM)))
        return;
    struct line *l = line_of(all, r);
    double fraction = csv_read_real(r, FRACTION);
    if (l) {
        l->rows++;
        if (!(fraction > l->fraction))
            return;
    } else {
        l = &APPEND(all->v, all->n);
        *l = (struct line){.rows = 1, .order = all->n};
    }
    for (size_t i = 0; i < TEXTS; i++) {
        free(l->text[i]);
        l->text[i] = xstrdup(csv_read_text(r, i));
    }
    l->value = csv_read_real(r, VALUE);
    l->limit = csv_read_real(r, LIMIT);
    l->fraction = fraction;
    l->severity = severity_of(l->text[VERDICT]);
}

static int by_severity(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    double p = isnan(x->fraction) ? 0 : x->fraction, q = isnan(y->fraction) ? 0 : y->fraction;
    if (is_published(x) != is_published(y))
        return is_published(x) ? -1 : 1;
    if (x->severity != y->severity)
        return x->severity < y->severity ? -1 : 1;
    return p != q ? (p > q ? -1 : 1) : x->order < y->order ? -1 : 1;
}

/* ---- printing ---- */

static void put_number(struct words *cells, const struct line *l, double value)
{
    char buf[64];
    const char *unit = l->text[UNIT];
    if (isnan(value))
        snprintf(buf, sizeof buf, "-");
    else if (!strcmp(unit, "B/s"))
        units_human_rate(buf, sizeof buf, value);
    else if (!strcmp(unit, "s"))
        units_human_time(buf, sizeof buf, value);
    else if (!strcmp(unit, "1"))
        snprintf(buf, sizeof buf, "%.3g", value);
    else
        units_human_si(buf, sizeof buf, value, unit);
    words_add(cells, buf);
}

/* At most CLAIM_WIDTH characters. */
static void put_shortened(struct words *cells, const char *s)
{
    size_t end = 0;
    if (text_width(s) <= CLAIM_WIDTH) {
        words_add(cells, s);
        return;
    }
    for (size_t width = 0; width < CLAIM_WIDTH; end++)
        width += ((unsigned char)s[end] & 0xc0) != 0x80;
    words_addf(cells, "%.*s…", (int)end - 1, s);
}

/* "nccl_allreduce ring/LL 1073741824 B (of 836)": of those that it stands for, without what tells
 * it from its likes, its parameters. */
static void put_claim(struct words *cells, const struct line *l)
{
    const char *s = l->text[CLAIM], *colon = strstr(s, " B: ");
    if (l->rows == 1 || !colon)
        put_shortened(cells, s);
    else
        words_addf(cells, "%.*s (of %zu)", (int)(colon - s) + 2, s, l->rows);
}

/* "busbw"; "speedup on h200-2gpu", where data decide. */
static void put_quantity(struct words *cells, const struct line *l)
{
    static const char measured[] = "measured on ";
    const char *from = l->text[LIMIT_SOURCE];
    size_t n = strlen("measured ");
    if (strncmp(from, measured, sizeof measured - 1))
        words_add(cells, l->text[QUANTITY]);
    else
        words_addf(cells, "%s %.*s", l->text[QUANTITY], (int)strcspn(from + n, ","), from + n);
}

static void put_line(struct words *cells, struct words *sources, const struct line *l)
{
    words_add(cells, l->text[PLATFORM]);
    put_claim(cells, l);
    if (*l->text[SOURCE])
        words_addf(cells, "[%zu]", words_add_once(sources, l->text[SOURCE]) + 1);
    else
        words_add(cells, "-");
    put_quantity(cells, l);
    put_number(cells, l, l->value);
    put_number(cells, l, l->limit);
    if (isnan(l->fraction))
        words_add(cells, "-");
    else
        words_addf(cells, "%.3g", l->fraction);
    words_add(cells, l->text[VERDICT]);
}

static bool is_fine(const char *verdict)
{
    return severity_of(verdict) > severity_of(limits_verdicts[LIMIT_AT]);
}

static void print(const struct lines_of *all, const char *path)
{
    static const char *const head[] = {"platform", "claim",    "source",   "of",
                                       "claimed",  "possible", "fraction", "verdict"};
    const size_t n = sizeof head / sizeof *head;
    AUTO_WORDS struct words cells = {0}, sources = {0};
    for (size_t i = 0; i < n; i++)
        words_add(&cells, head[i]);
    for (size_t i = 0; i < all->n; i++)
        put_line(&cells, &sources, &all->v[i]);
    text_table_print(&cells, n, 0, is_fine);
    for (size_t i = 0; i < sources.n; i++)
        printf("%s[%zu] %s\n", i ? "" : "\n", i + 1, sources.v[i]);
    if (path)
        printf("\nthe reason of every row: %s, column physics\n", path);
    else
        printf("\nthe reason of every row: column physics of " LIMITS_CSV
               ", which -o FOLDER writes\n");
}

int limits_print(const char *dir, const struct words *platforms, bool kept)
{
    struct lines_of all = {.platforms = platforms};
    AUTO_FREE char *path = xstrfmt("%s/%s", dir, LIMITS_CSV);
    int code = csv_read_each(path, columns, take_row, &all);
    if (!code && all.n) {
        qsort(all.v, all.n, sizeof *all.v, by_severity);
        print(&all, kept ? path : NULL);
    }
    for (size_t i = 0; i < all.n; i++)
        for (size_t k = 0; k < TEXTS; k++)
            free(all.v[i].text[k]);
    free(all.v);
    return code;
}
