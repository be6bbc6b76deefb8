/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/derive.h"

#include "base/err.h"
#include "base/text.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double operate(char op, double x, double y)
{
    switch (op) {
    case '+':
        return x + y;
    case '-':
        return x - y;
    case '*':
        return x * y;
    default:
        return x / y;
    }
}

static int operand(struct book *b, struct answer *a, const char *word, double *out)
{
    struct answer *part;
    char *end;
    *out = strtod(word, &end);
    if (end != word && !*end)
        return GS_OK;
    int code = book_answer(b, word, &part);
    if (code)
        return code;
    book_part(a, part);
    *out = part->n_v ? part->v[0] : NAN;
    return GS_OK;
}

/* Of the numbers whose name is like the glob. */
struct among {
    const char *text; /* of a tally */
    bool within;      /* from least to greatest */
    double least, greatest;
    bool most;
};

static void take_part(struct answer *a, struct answer *part, const struct among *how)
{
    double v = part->n_v && !part->none ? part->v[0] : NAN;
    if (how->text || how->within) {
        if (how->text ? !strcmp(part->plain, how->text) : v >= how->least && v <= how->greatest) {
            book_part(a, part);
            a->v[0] += 1;
        }
        return;
    }
    if (!isfinite(v) || (isfinite(a->v[0]) && (how->most ? v <= a->v[0] : v >= a->v[0])))
        return;
    a->v[0] = v;
    a->n_parts = 0; /* it alone */
    book_part(a, part);
}

static int look_among(struct book *b, struct answer *a, const char *glob, const struct among *how)
{
    int code = GS_OK;
    size_t like = 0;
    a->v[0] = how->text || how->within ? 0 : NAN;
    for (size_t i = 0; i < b->n && !code; i++) {
        struct answer *part;
        const char *name = b->d.v[i].field[DEF_NAME];
        if (fnmatch(glob, name, 0) != 0)
            continue;
        like++;
        code = book_answer(b, name, &part);
        if (!code)
            take_part(a, part, how);
    }
    if (!code && !like && a->macro->field[DEF_ELSE])
        a->gap = xstrfmt("no number has a name like '%s'", glob);
    else if (!code && !like)
        return fail_at(GS_USAGE, b->d.path, a->macro->line, "no number has a name like '%s'", glob);
    return code;
}

/* Whether two have the same plain value: 1 or 0. */
static int same(struct book *b, struct answer *a, const char *x, const char *y)
{
    struct answer *p, *q;
    int code = book_answer(b, x, &p);
    if (!code)
        code = book_answer(b, y, &q);
    if (code)
        return code;
    book_part(a, p);
    book_part(a, q);
    a->v[0] = !strcmp(p->plain, q->plain);
    return GS_OK;
}

static int calculate(struct book *b, struct answer *a, const struct words *w)
{
    double x = NAN, y;
    int code = operand(b, a, w->v[0], &x);
    for (size_t i = 1; i + 1 < w->n && !code; i += 2) {
        if (strlen(w->v[i]) != 1 || !strchr("+-*/", *w->v[i]))
            return fail_at(GS_USAGE, b->d.path, a->macro->line, "'%s' where + - * or / belongs",
                           w->v[i]);
        code = operand(b, a, w->v[i + 1], &y);
        x = operate(*w->v[i], x, y);
    }
    a->v[0] = x;
    return code;
}

/* What was calculated with numbers of unlike recordings is none. */
static void compare_parts(struct book *b, struct answer *a)
{
    const struct answer *first = NULL;
    for (size_t i = 0; i < a->n_parts && !a->gap; i++) {
        const struct answer *p = a->parts[i];
        if (!p->grid || !p->rows.n)
            continue;
        first = first ? first : p;
        if (gate_unlike(&b->gate, &b->shelf, first->grid, first->rows.rows[0], p->grid,
                        p->rows.rows[0], a->macro->field[DEF_NAME], &a->fault))
            a->gap = xstrdup("worked out from unlike recordings");
    }
}

/* A tally and an extreme may be of many platforms; what is calculated is of one. */
int derive(struct book *b, struct answer *a)
{
    struct words w;
    words_split(&w, a->macro->field[DEF_VALUE], ' ');
    const char *word = w.n > 1 ? w.v[0] : "";
    int code;
    a->n_v = 1;
    if (!strcmp(word, "tally") && w.n == 3)
        code = look_among(b, a, w.v[2], &(struct among){.text = w.v[1]});
    else if (!strcmp(word, "within") && w.n == 4)
        code = look_among(b, a, w.v[3],
                          &(struct among){.within = true,
                                          .least = strtod(w.v[1], NULL),
                                          .greatest = strtod(w.v[2], NULL)});
    else if ((!strcmp(word, "most") || !strcmp(word, "least")) && w.n == 2)
        code = look_among(b, a, w.v[1], &(struct among){.most = *word == 'm'});
    else if (!strcmp(word, "same") && w.n == 3)
        code = same(b, a, w.v[1], w.v[2]);
    else
        code = calculate(b, a, &w);
    if (!code && w.n > 1 && strchr("+-*/", *w.v[1]))
        compare_parts(b, a);
    words_free(&w);
    if (!code)
        a->plain = xstrfmt("%.12g", a->v[0]);
    return code;
}
