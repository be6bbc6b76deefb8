/* SPDX-License-Identifier: Apache-2.0 */
#include "curves/transitions_table.h"

#include "base/csv_read.h"
#include "base/err.h"
#include "base/text_table.h"
#include "base/units.h"
#include "curves/transitions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum column { PLATFORM, WORKLOAD, KIND, VERDICT, TEXTS, CONFIG = TEXTS, MODE, SIZE, CHANGE };
static const char *const columns[] = {"platform", "workload", "kind",   "verdict", "config",
                                      "mode",     "size_B",   "change", NULL};

/* The transitions of one platform, workload, kind and verdict. */
struct line {
    char *text[TEXTS];     /* owned */
    char *config;          /* of the largest change; owned */
    double change, size_B; /* the largest change, and its size; NaN: the kind has none */
    int64_t least_B, most_B;
    size_t rows, order;
};

struct lines_of {
    struct line *v;
    size_t n;
};

/* ---- reading ---- */

static bool is_kind(const char *word, enum transition_kind kind)
{
    return !strcmp(word, transition_names[kind]);
}

static struct line *line_of(struct lines_of *all, const struct csv_reader *r)
{
    for (size_t i = 0; i < all->n; i++) {
        size_t k = 0;
        while (k < TEXTS && !strcmp(all->v[i].text[k], csv_read_text(r, k)))
            k++;
        if (k == TEXTS)
            return &all->v[i];
    }
    all->v = xrealloc(all->v, (all->n + 1) * sizeof *all->v);
    struct line *l = &all->v[all->n];
    *l = (struct line){.change = (double)NAN, .least_B = INT64_MAX, .order = all->n++};
    for (size_t k = 0; k < TEXTS; k++)
        l->text[k] = xstrdup(csv_read_text(r, k));
    return l;
}

static void take_row(void *ctx, const struct csv_reader *r)
{
    const char *kind = csv_read_text(r, KIND), *mode = csv_read_text(r, MODE);
    if (is_kind(kind, TRANSITION_FIT) || is_kind(kind, TRANSITION_REFUSED))
        return;
    struct line *l = line_of(ctx, r);
    double change = csv_read_real(r, CHANGE);
    int64_t size = csv_read_integer(r, SIZE);
    l->rows++;
    l->least_B = size < l->least_B ? size : l->least_B;
    l->most_B = size > l->most_B ? size : l->most_B;
    if (isnan(change) || fabs(change) <= fabs(l->change))
        return;
    free(l->config);
    l->config = xstrfmt("%s%s%s", csv_read_text(r, CONFIG), *mode ? " " : "", mode);
    l->change = change;
    l->size_B = (double)size;
}

/* Recorded and confirmed first; then by the largest change. */
static int by_weight(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    bool p = transition_is_sure(x->text[VERDICT]), q = transition_is_sure(y->text[VERDICT]);
    double u = isnan(x->change) ? 0 : fabs(x->change), v = isnan(y->change) ? 0 : fabs(y->change);
    if (p != q)
        return p ? -1 : 1;
    return u != v ? (u > v ? -1 : 1) : x->order < y->order ? -1 : 1;
}

/* ---- printing ---- */

static void put_line(struct words *cells, const struct line *l)
{
    char low[32], high[32], at[32];
    for (size_t k = 0; k <= KIND; k++)
        words_add(cells, l->text[k]);
    words_addf(cells, "%zu", l->rows);
    units_human_size(low, sizeof low, (double)l->least_B);
    units_human_size(high, sizeof high, (double)l->most_B);
    words_addf(cells, "%s%s%s", low, l->least_B < l->most_B ? " .. " : "",
               l->least_B < l->most_B ? high : "");
    if (isnan(l->change))
        words_add(cells, "-");
    else
        words_addf(cells, "%+.0f%%, %s at %s", 100 * l->change, l->config,
                   units_human_size(at, sizeof at, l->size_B));
    words_add(cells, l->text[VERDICT]);
}

static void print(const struct lines_of *all, const char *path)
{
    static const char *const head[] = {"platform", "workload",       "kind",   "found",
                                       "at sizes", "largest change", "verdict"};
    const size_t n = sizeof head / sizeof *head;
    struct words cells = {0};
    for (size_t i = 0; i < n; i++)
        words_add(&cells, head[i]);
    for (size_t i = 0; i < all->n; i++)
        put_line(&cells, &all->v[i]);
    text_table_print(&cells, n, transition_is_sure);
    printf("\neach transition with its curve and its reason: %s\n", path);
    words_free(&cells);
}

int transitions_print(const char *dir)
{
    struct lines_of all = {0};
    char *path = xstrfmt("%s/" TRANSITIONS_CSV, dir);
    int code = csv_read_each(path, columns, take_row, &all);
    if (!code && all.n) {
        qsort(all.v, all.n, sizeof *all.v, by_weight);
        print(&all, path);
    }
    for (size_t i = 0; i < all.n; i++) {
        for (size_t k = 0; k < TEXTS; k++)
            free(all.v[i].text[k]);
        free(all.v[i].config);
    }
    free(all.v);
    free(path);
    return code;
}
