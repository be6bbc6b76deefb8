/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of sql.h: columns, types, rows and index.
 */
#include "base/err.h"
#include "base/text.h"
#include "publish/sql.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number that is written as one: "007" and "inf" are texts. */
static bool is_number(const char *s)
{
    char *end;
    if (!*s || s[strspn(s, "0123456789+-.eE")] || (s[0] == '0' && s[1] >= '0' && s[1] <= '9'))
        return false;
    double v = strtod(s, &end);
    return !*end && isfinite(v);
}

static const char *value_of(const struct grid *g, size_t row, const char *key, size_t column,
                            char *buf, size_t n)
{
    const char *v =
        column < g->n_columns ? g->rows[row].fields[column] : grid_get(g, row, key, buf, n);
    return v ? v : "";
}

/* A table that is not a file has versions: "13.0" is no number. */
static bool of_numbers(const struct grid *g, const char *key)
{
    char buf[256];
    size_t n = strlen(g->path);
    if (n < 4 || strcmp(g->path + n - 4, ".csv") != 0)
        return !strcmp(key, "line");
    size_t column = grid_column(g, key);
    for (size_t i = 0; i < g->n; i++) {
        const char *v = value_of(g, i, key, column, buf, sizeof buf);
        if (*v && !is_number(v))
            return false;
    }
    return true;
}

/* The columns, `line`, and the keys of `params`. */
static void list_keys(struct words *keys, const struct grid *g)
{
    struct words params;
    for (size_t i = 0; i < g->n_columns; i++)
        words_add(keys, g->columns[i]);
    if (!grid_has(g, "line"))
        words_add(keys, "line");
    for (size_t row = 0; row < g->n && grid_has(g, "params"); row++) {
        words_split(&params, grid_text(g, row, "params"), ' ');
        for (size_t i = 0; i < params.n; i++) {
            char *equals = strchr(params.v[i], '=');
            if (!equals)
                continue;
            *equals = '\0';
            if (!grid_has(g, params.v[i]))
                words_add_once(keys, params.v[i]);
        }
        words_free(&params);
    }
}

static int insert_rows(struct sql *s, const struct grid *g, const struct words *keys,
                       const bool *numbers, const char *insert)
{
    sqlite3_stmt *st;
    char buf[256];
    if (sqlite3_prepare_v2(s->db, insert, -1, &st, NULL))
        return sql_failed(s);
    int code = GS_OK;
    for (size_t row = 0; row < g->n && !code; row++) {
        for (size_t k = 0; k < keys->n; k++) {
            const char *v =
                value_of(g, row, keys->v[k], k < g->n_columns ? k : g->n_columns, buf, sizeof buf);
            if (!*v)
                sqlite3_bind_null(st, (int)k + 1);
            else if (numbers[k])
                sqlite3_bind_double(st, (int)k + 1, strtod(v, NULL));
            else
                sqlite3_bind_text(st, (int)k + 1, v, -1,
                                  v == buf ? SQLITE_TRANSIENT : SQLITE_STATIC);
        }
        if (sqlite3_step(st) != SQLITE_DONE)
            code = sql_failed(s);
        sqlite3_reset(st);
    }
    sqlite3_finalize(st);
    return code;
}

/* An index of the columns by which most queries choose rows, as far as the table has them. */
static int index_rows(struct sql *s, const struct grid *g, const struct words *keys)
{
    static const char *const chosen_by[] = {"platform", "workload", "label", "mode", "size"};
    AUTO_TEXT struct text t = {0};
    size_t n = 0;
    text_addf(&t, "CREATE INDEX main.\"index of %s\" ON \"%s\" (", g->name, g->name);
    for (size_t c = 0; c < sizeof chosen_by / sizeof *chosen_by; c++)
        for (size_t k = 0; k < keys->n; k++)
            if (!strcmp(keys->v[k], chosen_by[c]))
                text_addf(&t, "%s\"%s\"", n++ ? ", " : "", keys->v[k]);
    text_add(&t, ")");
    return n ? sql_execute(s, t.s) : GS_OK;
}

/* The view hides the rows that are refused. It has the name of the table, which it shadows. */
static int load(struct sql *s, const struct grid *g)
{
    AUTO_WORDS struct words keys = {0};
    AUTO_TEXT struct text create = {0}, insert = {0};
    list_keys(&keys, g);
    AUTO_FREE bool *numbers = xcalloc(keys.n, sizeof *numbers);
    text_addf(&create, "BEGIN; CREATE TABLE main.\"%s\" (", g->name);
    text_addf(&insert, "INSERT INTO main.\"%s\" VALUES (", g->name);
    for (size_t k = 0; k < keys.n; k++) {
        numbers[k] = of_numbers(g, keys.v[k]);
        text_addf(&create, "%s\"%s\" %s", k ? ", " : "", keys.v[k], numbers[k] ? "REAL" : "TEXT");
        text_addf(&insert, "%s?", k ? ", " : "");
    }
    text_addf(&create,
              "); CREATE TEMP VIEW \"%s\" AS SELECT rowid AS rowid, * FROM main.\"%s\" "
              "WHERE admissible(rowid)",
              g->name, g->name);
    text_add(&insert, ")");
    int code = sql_execute(s, create.s);
    if (!code)
        code = insert_rows(s, g, &keys, numbers, insert.s);
    if (!code)
        code = index_rows(s, g, &keys);
    return code ? code : sql_execute(s, "COMMIT");
}

int sql_use(struct sql *s, const struct sql_parts *p, const struct grid **out)
{
    AUTO_FREE char *name = xstrfmt("%.*s", (int)p->table_len, p->table);
    int code = sql_open(s);
    *out = NULL;
    if (!code)
        code = paper_tables_find(s->tables, name, out);
    s->grid = *out;
    if (!code &&
        sqlite3_table_column_metadata(s->db, "main", name, NULL, NULL, NULL, NULL, NULL, NULL))
        code = load(s, *out);
    return code;
}
