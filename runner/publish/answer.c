/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/answer.h"

#include "base/err.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct sql_source source_of(const struct numbers *b, const struct macro *m)
{
    return (struct sql_source){m->line ? b->d.path : "command line", m->line};
}

void answer_part(struct answer *a, struct answer *part)
{
    APPEND(a->parts, a->n_parts) = part;
    if (part->gap && !a->gap) {
        a->gap = xstrdup(part->gap);
        a->fault = part->fault;
    }
}

/* ---- from a table ---- */

/* The columns in which the rows differ, "a, b"; the caller frees it. */
static char *differences(const struct grid *g, const struct chosen *rows)
{
    struct text t = {0};
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

/* A query of rowid: the rows, counted from 0. */
static int find_rows(struct numbers *b, struct answer *a, char *query, const struct sql_values *in)
{
    AUTO(sql_result_free) struct sql_result r = {0};
    int code = sql_run(&b->sql, &r, query, in, source_of(b, a->macro));
    chosen_free(&a->rows);
    a->rows.rows = xcalloc(r.rows + 1, sizeof *a->rows.rows);
    for (size_t i = 0; i < r.rows; i++)
        a->rows.rows[a->rows.n++] = (size_t)r.cells.v[i].number - 1;
    free(query);
    return code;
}

static int several_rows(struct numbers *b, struct answer *a, size_t n)
{
    AUTO_FREE char *differ = a->grid ? differences(a->grid, &a->rows) : xstrdup("name");
    return fail_at(GS_USAGE, b->d.path, a->macro->line,
                   "%s: %zu rows of %s match, and they differ in %s; add a condition on "
                   "one of these, or ORDER BY COLUMN LIMIT 1",
                   a->macro->name, n, a->grid ? a->grid->name : "numbers", differ);
}

/* A field of a row is as it is in the table: 1e+10 stays that. */
static char *plain_of(const struct answer *a, const struct sql_result *r)
{
    const struct sql_value *first = r->cells.v;
    if (!a->grid)
        return xstrfmt("%.12g", first->number);
    if (a->rows.n == 1 && grid_has(a->grid, r->name))
        return xstrdup(grid_text(a->grid, a->rows.rows[0], r->name));
    return xstrdup(first->text);
}

static int take_result(struct numbers *b, struct answer *a, const struct sql_parts *p,
                       const struct sql_result *r)
{
    if (r->columns != 1 && r->columns != 3)
        return fail_at(GS_USAGE, b->d.path, a->macro->line,
                       "%s: %zu columns; there must be one, or a value and the two ends of its "
                       "interval",
                       a->macro->name, r->columns);
    if (p->distinct) {
        struct text t = {0};
        text_add(&t, "");
        for (size_t i = 0; i < r->rows; i++)
            text_addf(&t, "%s%s", i ? ", " : "", r->cells.v[i * r->columns].text);
        a->plain = t.s;
        return GS_OK;
    }
    if (r->rows > 1)
        return several_rows(b, a, r->rows);
    if (!r->rows) {
        a->gap = a->gap ? a->gap : xstrdup("no row matches");
        a->plain = xstrdup("nan");
        return GS_OK;
    }
    for (a->n_v = 0; a->n_v < r->columns; a->n_v++)
        a->v[a->n_v] = r->cells.v[a->n_v].number;
    a->plain = plain_of(a, r);
    return GS_OK;
}

static int run_query(struct numbers *b, struct answer *a, const char *query,
                     const struct sql_parts *p, const struct sql_values *in)
{
    AUTO(sql_result_free) struct sql_result r = {0};
    int code = sql_run(&b->sql, &r, query, in, source_of(b, a->macro));
    if (!code && p->from && (p->limit || !a->grid))
        code = find_rows(b, a, xstrfmt("SELECT rowid %s", p->from), in);
    return code ? code : take_result(b, a, p, &r);
}

/* The condition between WHERE and ORDER BY, for messages; the caller frees it. */
static char *condition_of(const char *query)
{
    const char *where = strcasestr(query, " WHERE ");
    where = where ? where + strlen(" WHERE ") : "";
    const char *order = strcasestr(where, " ORDER BY ");
    return xstrfmt("%.*s", (int)(order ? (size_t)(order - where) : strlen(where)), where);
}

/* Why no row is left; the caller frees it. */
static char *no_rows(const struct answer *a)
{
    const char *table = a->grid->name;
    AUTO_FREE char *where = condition_of(a->macro->query);
    if (a->left_out)
        return xstrfmt("all rows of %s with %s are refused", table, where);
    if (!a->skipped)
        return xstrfmt("%s has no row with %s", table, where);
    const char *why = grid_text(a->grid, a->rows.rows[0], "reason");
    why += strncmp(why, "skip: ", 6) ? 0 : 6;
    return xstrfmt("all rows of %s with %s were skipped: %s", table, where, why);
}

/* First finds the rows of the query, to judge them; then runs the query on the admissible ones. */
static int query_table(struct numbers *b, struct answer *a, const char *query,
                       const struct sql_parts *p, const struct sql_values *in)
{
    int n = (int)(p->order - p->from);
    int code = sql_use(&b->sql, p, &a->grid);
    b->sql.refused = true;
    if (!code)
        code = find_rows(b, a, xstrfmt("SELECT rowid %.*s ORDER BY rowid", n, p->from), in);
    b->sql.refused = false;
    size_t found = a->rows.n;
    if (!code)
        code = admissibility_rows(&b->admissibility, &b->tables, a->grid, &a->rows, a->macro->name,
                                  &a->left_out, &a->fault);
    if (code || a->rows.n || p->count)
        return code ? code : run_query(b, a, query, p, in);
    a->skipped = found && !a->left_out;
    if (!a->gap)
        a->gap = no_rows(a);
    return GS_OK;
}

/* ---- from other numbers ---- */

/* A number that was calculated from recordings of different machines or software is refused. */
static void compare_parts(struct numbers *b, struct answer *a)
{
    const struct answer *first = NULL;
    for (size_t i = 0; i < a->n_parts && !a->gap; i++) {
        const struct answer *p = a->parts[i];
        if (!p->grid || !p->rows.n)
            continue;
        first = first ? first : p;
        if (admissibility_unlike(&b->admissibility, &b->tables, first->grid, first->rows.rows[0],
                                 p->grid, p->rows.rows[0], a->macro->name, &a->fault))
            a->gap = xstrdup("computed from recordings that differ");
    }
}

/* Its rows can come from several platforms; a calculation belongs to one. */
static int query_numbers(struct numbers *b, struct answer *a, const char *query,
                         const struct sql_parts *p, const struct sql_values *in)
{
    int code = run_query(b, a, query, p, in);
    for (size_t i = 0; i < a->rows.n && !code; i++)
        answer_part(a, &b->v[a->rows.rows[i]]);
    chosen_free(&a->rows);
    if (!code && !p->from)
        compare_parts(b, a);
    return code;
}

int answer_query(struct numbers *b, struct answer *a, const char *query,
                 const struct sql_values *in)
{
    struct sql_parts p;
    int code = sql_split(&p, query, source_of(b, a->macro));
    if (code)
        return code;
    return p.from && strncmp(p.table, "numbers", p.table_len) != 0
               ? query_table(b, a, query, &p, in)
               : query_numbers(b, a, query, &p, in);
}
