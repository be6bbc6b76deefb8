/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/numbers.h"

#include "base/err.h"
#include "base/text.h"
#include "publish/derive.h"
#include "publish/format.h"
#include "publish/value.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct place place_of(const struct book *b, const struct macro *m)
{
    return (struct place){b->d.path, m->line};
}

void book_part(struct answer *a, struct answer *part)
{
    a->parts = xrealloc(a->parts, (a->n_parts + 1) * sizeof(struct answer *));
    a->parts[a->n_parts++] = part;
    if (part->gap && !a->gap) {
        a->gap = xstrdup(part->gap);
        a->fault = part->fault;
    }
}

/* ---- a choice that names another number ---- */

/* CLAUSES with every "@NAME" replaced by its plain value. */
static int resolve(struct book *b, struct answer *a, char **out)
{
    struct text t = {0};
    int code = GS_OK;
    text_clear(&t);
    text_add(&t, "");
    for (const char *s = a->macro->field[DEF_WHERE]; *s && !code;) {
        size_t n = *s == '@' ? strcspn(s, "; ") : 0;
        if (!n) {
            text_addn(&t, s++, 1);
            continue;
        }
        struct answer *part = NULL;
        char *name = xstrfmt("%.*s", (int)(n - 1), s + 1);
        code = book_answer(b, name, &part);
        if (part) {
            book_part(a, part);
            text_add(&t, part->plain ? part->plain : "");
        }
        free(name);
        s += n;
    }
    *out = t.s;
    return code;
}

/* ---- looked up ---- */

char *book_differences(const struct grid *g, const struct chosen *rows)
{
    struct text t = {0};
    text_clear(&t);
    text_add(&t, "");
    for (size_t c = 0; c < g->n_columns; c++) {
        bool differ = false;
        for (size_t i = 1; i < rows->n; i++)
            differ = differ || strcmp(g->rows[rows->rows[i]].fields[c],
                                      g->rows[rows->rows[0]].fields[c]) != 0;
        if (differ && t.len < 200)
            text_addf(&t, "%s%s", t.len ? ", " : "", g->columns[c]);
    }
    return t.s;
}

/* Counts of nothing are 0; of all else nothing is ELSE, or a gap. */
static bool counts(const struct macro *m)
{
    return !strcmp(m->field[DEF_VALUE], "count") || !strncmp(m->field[DEF_VALUE], "groups ", 7);
}

static int look_up(struct book *b, struct answer *a)
{
    const struct macro *m = a->macro;
    const struct place at = place_of(b, m);
    char *where = NULL;
    int code = shelf_find(&b->shelf, m->field[DEF_TABLE], &a->grid);
    if (!code)
        code = resolve(b, a, &where);
    if (!code)
        code = select_rows(&a->rows, a->grid, where, at);
    if (!code)
        code = gate_rows(&b->gate, &b->shelf, a->grid, &a->rows, m->field[DEF_NAME], &a->left_out,
                         &a->fault);
    if (!code && !a->rows.n && !counts(m)) {
        if (!a->gap)
            a->gap = a->left_out
                         ? xstrfmt("all rows of %s with %s are refused", a->grid->name, where)
                         : xstrfmt("%s has no row with %s", a->grid->name, where);
    } else if (!code) {
        code = value_of_rows(a, at);
    }
    free(where);
    return code;
}

/* ---- printed ---- */

/* Nothing stands there: ELSE, or the paper cannot be made. */
static void judge_gap(struct book *b, struct answer *a)
{
    const struct macro *m = a->macro;
    a->none = m->field[DEF_ELSE];
    if (a->none)
        return;
    if (a->fault == SIZE_MAX)
        a->fault = gate_wanting(&b->gate, &b->shelf, m->field[DEF_WHERE], m->field[DEF_NAME],
                                xstrfmt("%s:%d: %s", b->d.path, m->line, a->gap));
    b->gate.v[a->fault].needed = true;
}

static int print(struct book *b, struct answer *a)
{
    const struct macro *m = a->macro;
    const struct form *f = form_find(m->field[DEF_FORM]);
    if (!f) {
        const char *near = form_nearest(m->field[DEF_FORM]);
        return fail_at(GS_USAGE, b->d.path, m->line, "no form '%s'%s", m->field[DEF_FORM],
                       DID_YOU_MEAN(near));
    }
    if (!a->gap && !form_is_text(f))
        for (size_t i = 0; i < a->n_v && !a->gap; i++)
            if (!isfinite(a->v[i]))
                a->gap = xstrfmt("no number: %s",
                                 a->grid && *grid_text(a->grid, a->rows.rows[0], "reason")
                                     ? grid_text(a->grid, a->rows.rows[0], "reason")
                                     : "the field is empty");
    if (a->gap)
        judge_gap(b, a);
    if (a->gap)
        a->text = xstrdup(a->none ? m->field[DEF_ELSE] : "?");
    else
        a->text = form_is_text(f) ? xstrdup(a->plain) : form_number(f, a->v, a->n_v);
    if (!a->plain)
        a->plain = xstrdup(a->none ? m->field[DEF_ELSE] : "");
    return GS_OK;
}

/* ---- the book ---- */

int book_open(struct book *b, const char *path, struct shelf shelf)
{
    *b = (struct book){.shelf = shelf, .gate.proofs.configs = shelf.configs};
    return definitions_read(&b->d, path, &b->shelf);
}

static int no_such(const struct book *b, const char *name)
{
    const char *near = definitions_nearest(&b->d, name);
    return fail(GS_USAGE, "no number '%s' in %s%s", name, b->d.path, DID_YOU_MEAN(near));
}

int book_answer(struct book *b, const char *name, struct answer **out)
{
    const struct macro *m = definitions_find(&b->d, name);
    *out = NULL;
    if (!m)
        return no_such(b, name);
    if (!b->v) {
        b->n = b->d.n;
        b->v = xcalloc(b->n, sizeof *b->v);
    }
    struct answer *a = *out = &b->v[m - b->d.v];
    if (a->state == ANSWER_BUSY)
        return fail_at(GS_USAGE, b->d.path, m->line, "%s is worked out from itself", name);
    if (a->state == ANSWER_DONE)
        return GS_OK;
    a->state = ANSWER_BUSY;
    a->macro = m;
    a->fault = SIZE_MAX;
    int code = !strcmp(m->field[DEF_TABLE], "=") ? derive(b, a) : look_up(b, a);
    if (!code)
        code = print(b, a);
    a->state = ANSWER_DONE;
    return code;
}

void book_close(struct book *b)
{
    for (size_t i = 0; b->v && i < b->n; i++) {
        struct answer *a = &b->v[i];
        free(a->text);
        free(a->plain);
        free(a->parts);
        free(a->gap);
        chosen_free(&a->rows);
    }
    free(b->v);
    gate_free(&b->gate);
    definitions_free(&b->d);
    shelf_free(&b->shelf);
    *b = (struct book){0};
}
