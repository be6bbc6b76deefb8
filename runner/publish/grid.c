/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/grid.h"

#include "base/csv_read.h"
#include "base/text.h"
#include "record/recorded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making one ---- */

static void add_column(struct grid *g, const char *name)
{
    APPEND(g->columns, g->n_columns) = xstrdup(name);
}

struct grid *grid_new(const char *name, const char *path, const char *const *columns)
{
    struct grid *g = xcalloc(1, sizeof *g);
    g->name = xstrdup(name);
    g->path = xstrdup(path);
    for (size_t i = 0; columns[i]; i++)
        add_column(g, columns[i]);
    return g;
}

void grid_add(struct grid *g, long line, const char *const *fields)
{
    ALLOC_MORE(g->rows, g->n);
    struct grid_row *row = &g->rows[g->n++];
    *row = (struct grid_row){xcalloc(g->n_columns + 1, sizeof *row->fields), line};
    for (size_t i = 0; i < g->n_columns; i++)
        row->fields[i] = xstrdup(fields[i] ? fields[i] : "");
}

static int read_rows(struct grid *g, struct csv_reader *r)
{
    AUTO_FREE const char **fields = xcalloc(g->n_columns + 1, sizeof *fields);
    bool got;
    int code = csv_read_row(r, &got);
    while (!code && got) {
        for (size_t i = 0; i < g->n_columns; i++)
            fields[i] = r->fields.s + r->starts[i];
        grid_add(g, r->number, fields);
        code = csv_read_row(r, &got);
    }
    return code;
}

int grid_read(struct grid **out, const char *name, const char *path)
{
    static const char *const none[] = {NULL};
    struct csv_reader r;
    *out = NULL;
    int code = csv_read_open(&r, path, none);
    if (code)
        return code;
    struct grid *g = grid_new(name, path, none);
    for (size_t i = 0; i < r.n_header; i++)
        add_column(g, r.fields.s + r.starts[i]);
    code = read_rows(g, &r);
    csv_read_close(&r);
    if (code)
        grid_free(g);
    else
        *out = g;
    return code;
}

static void free_row(const struct grid *g, struct grid_row *row)
{
    for (size_t i = 0; i < g->n_columns; i++)
        free(row->fields[i]);
    free(row->fields);
}

void grid_free(struct grid *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n; i++)
        free_row(g, &g->rows[i]);
    for (size_t i = 0; i < g->n_columns; i++)
        free(g->columns[i]);
    free(g->columns);
    free(g->rows);
    free(g->judged);
    free(g->name);
    free(g->path);
    free(g);
}

void chosen_free(struct chosen *c)
{
    free(c->rows);
    *c = (struct chosen){0};
}

/* ---- asking it ---- */

size_t grid_column(const struct grid *g, const char *name)
{
    size_t i = 0;
    while (i < g->n_columns && strcmp(g->columns[i], name) != 0)
        i++;
    return i;
}

bool grid_has(const struct grid *g, const char *column)
{
    return grid_column(g, column) < g->n_columns;
}

const char *grid_text(const struct grid *g, size_t row, const char *column)
{
    size_t i = grid_column(g, column);
    return i < g->n_columns ? g->rows[row].fields[i] : "";
}

const char *grid_get(const struct grid *g, size_t row, const char *key, char *buf, size_t n)
{
    size_t i = grid_column(g, key);
    if (i < g->n_columns)
        return g->rows[row].fields[i];
    if (!strcmp(key, "line")) {
        snprintf(buf, n, "%ld", g->rows[row].line);
        return buf;
    }
    struct rec_cell cell = {.params = (char *)grid_text(g, row, "params")};
    return recorded_param(&cell, key, buf, n);
}

double grid_real(const struct grid *g, size_t row, const char *column)
{
    const char *s = grid_text(g, row, column);
    char *end;
    double v = strtod(s, &end);
    return *s && !*end ? v : (double)NAN;
}

/* ---- of several runs, one ---- */

struct candidate {
    char *key; /* what was measured */
    const char *run;
    enum grid_run state;
    size_t row;
};

static void add_columns(struct text *t, const struct grid *g, size_t row,
                        const char *const *columns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_addf(t, "%s\n", grid_text(g, row, columns[i]));
}

static char *row_key(const struct grid *g, size_t row)
{
    static const char *const identity[] = {"platform", "workload", "label",  "config", "mode",
                                           "params",   "size_B",   "metric", "launch"};
    static const char *const of_wan[] = {"transport", "every", "overlap", "fragments"};
    struct text t = {0};
    text_clear(&t);
    add_columns(&t, g, row, identity, COUNT(identity));
    /* Tables without a column of parameters have their hash, cell_id. wan.csv needs its own columns:
     * there the hash also changes with the version of wan_sync. */
    if (grid_has(g, "strategy"))
        add_columns(&t, g, row, of_wan, COUNT(of_wan));
    else if (!grid_has(g, "params"))
        text_add(&t, grid_text(g, row, "cell_id"));
    return t.s;
}

static int by_candidate(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
    int order = strcmp(a->key, b->key);
    if (!order)
        order = (int)b->state - (int)a->state;
    if (!order)
        order = strcmp(b->run, a->run);
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

static void drop_rows(struct grid *g, const bool *drop)
{
    size_t kept = 0;
    for (size_t i = 0; i < g->n; i++)
        if (drop[i])
            free_row(g, &g->rows[i]);
        else
            g->rows[kept++] = g->rows[i];
    g->n = kept;
}

void grid_latest(struct grid *g, const enum grid_run *runs)
{
    if (!grid_has(g, "run_id") || !g->n)
        return;
    AUTO_FREE struct candidate *v = xcalloc(g->n, sizeof *v);
    AUTO_FREE bool *drop = xcalloc(g->n, sizeof *drop);
    for (size_t i = 0; i < g->n; i++)
        v[i] = (struct candidate){row_key(g, i), grid_text(g, i, "run_id"), runs[i], i};
    qsort(v, g->n, sizeof *v, by_candidate);
    const char *kept = NULL;
    for (size_t i = 0; i < g->n; i++) {
        kept = i && !strcmp(v[i].key, v[i - 1].key) ? kept : v[i].run;
        drop[v[i].row] = strcmp(v[i].run, kept) != 0;
    }
    for (size_t i = 0; i < g->n; i++)
        free(v[i].key);
    drop_rows(g, drop);
}
