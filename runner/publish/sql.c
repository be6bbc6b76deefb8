/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/sql.h"

#include "base/err.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- values ---- */

void sql_add(struct sql_values *values, char *text, double number)
{
    ALLOC_MORE(values->v, values->n);
    values->v[values->n++] = (struct sql_value){text, number};
}

void sql_values_free(struct sql_values *values)
{
    for (size_t i = 0; i < values->n; i++)
        free(values->v[i].text);
    free(values->v);
    *values = (struct sql_values){0};
}

void sql_result_free(struct sql_result *r)
{
    sql_values_free(&r->cells);
    free(r->name);
    *r = (struct sql_result){0};
}

/* ---- the database ---- */

/* admissible(rowid): whether a query may see this row of the table that is being read. */
static void admissible(sqlite3_context *context, int n, sqlite3_value **v)
{
    const struct sql *s = sqlite3_user_data(context);
    (void)n;
    sqlite3_int64 row = sqlite3_value_int64(v[0]) - 1;
    bool known = s->grid && row >= 0 && (size_t)row < s->grid->n;
    sqlite3_result_int(context, s->refused || (known && s->grid->judged[row] == ROW_GOOD));
}

int sql_failed(const struct sql *s)
{
    return fail(GS_FAILED, "SQLite: %s", sqlite3_errmsg(s->db));
}

int sql_execute(struct sql *s, const char *text)
{
    return sqlite3_exec(s->db, text, NULL, NULL, NULL) ? sql_failed(s) : GS_OK;
}

int sql_open(struct sql *s)
{
    if (s->db)
        return GS_OK;
    if (sqlite3_open(":memory:", &s->db) ||
        /* "word" is a column; without this a column that is misspelt would be a text. */
        sqlite3_db_config(s->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL) ||
        sqlite3_create_function(s->db, "admissible", 1, SQLITE_UTF8, s, admissible, NULL, NULL))
        return sql_failed(s);
    int code = sql_execute(s, "CREATE TABLE numbers (name TEXT, plain TEXT, value REAL)");
    if (!code && sqlite3_prepare_v2(s->db,
                                    "INSERT INTO numbers (rowid, name, plain, value) "
                                    "VALUES (?, ?, ?, ?)",
                                    -1, &s->add_number, NULL))
        code = sql_failed(s);
    return code;
}

void sql_close(struct sql *s)
{
    sqlite3_finalize(s->add_number);
    sqlite3_close(s->db);
    *s = (struct sql){0};
}

/* ---- the table of numbers ---- */

int sql_clear_numbers(struct sql *s)
{
    s->grid = NULL;
    int code = sql_open(s);
    return code ? code : sql_execute(s, "DELETE FROM numbers");
}

int sql_add_number(struct sql *s, size_t row, const char *name, const char *plain, double value)
{
    sqlite3_stmt *st = s->add_number;
    sqlite3_bind_int64(st, 1, (sqlite3_int64)row);
    sqlite3_bind_text(st, 2, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 3, plain, -1, SQLITE_STATIC);
    sqlite3_bind_double(st, 4, value); /* NaN is NULL */
    int step = sqlite3_step(st);
    sqlite3_reset(st);
    return step == SQLITE_DONE ? GS_OK : sql_failed(s);
}

/* ---- a query ---- */

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The word in `s` outside quotes; NULL: it is not there. */
static const char *find_word(const char *s, const char *word)
{
    char quote = '\0', before = '\0';
    for (size_t n = strlen(word); *s; before = *s++)
        if (quote)
            quote = *s == quote ? '\0' : quote;
        else if (*s == '\'' || *s == '"')
            quote = *s;
        else if (!in_word(before) && !strncasecmp(s, word, n) && !in_word(s[n]))
            return s;
    return NULL;
}

int sql_split(struct sql_parts *p, const char *query, struct sql_source at)
{
    static const char *const clauses[] = {"ORDER BY", "LIMIT"};
    *p = (struct sql_parts){.order = query + strlen(query)};
    if (strncasecmp(query, "SELECT ", strlen("SELECT ")) != 0)
        return fail_at(GS_USAGE, at.file, at.line, "'%s' is not SELECT VALUE FROM TABLE WHERE …",
                       query);
    p->from = find_word(query, "FROM");
    p->distinct = !strncasecmp(query, "SELECT DISTINCT ", strlen("SELECT DISTINCT "));
    p->count = !strncasecmp(query, "SELECT count(", strlen("SELECT count("));
    p->limit = find_word(query, "LIMIT") != NULL;
    for (size_t i = 0; i < sizeof clauses / sizeof *clauses; i++) {
        const char *found = find_word(query, clauses[i]);
        p->order = found && found < p->order ? found : p->order;
    }
    /* Of another table, or of the same one again, it would not be known which rows were read. */
    if (find_word(query + 1, "SELECT") || find_word(query, "JOIN") || find_word(query, "GROUP"))
        return fail_at(GS_USAGE, at.file, at.line,
                       "a query reads one table, once, without JOIN or GROUP BY; name another "
                       "number as @NAME");
    if (!p->from)
        return GS_OK;
    p->table = p->from + strlen("FROM"); /* which may be the end */
    p->table += strspn(p->table, " \"");
    p->table_len = strcspn(p->table, " \",;)");
    return GS_OK;
}

static int wrong(const struct sql *s, struct sql_source at)
{
    static const char column[] = "no such column: ";
    const char *text = sqlite3_errmsg(s->db), *near = NULL;
    if (s->grid && !strncmp(text, column, strlen(column)))
        near = text_nearest(text + strlen(column), (const char *const *)s->grid->columns,
                            s->grid->n_columns);
    return near ? fail_at(GS_USAGE, at.file, at.line, "table %s has %s%s", s->grid->name, text,
                          DID_YOU_MEAN(near))
                : fail_at(GS_USAGE, at.file, at.line, "%s", text);
}

static void bind(sqlite3_stmt *st, const struct sql_values *in)
{
    for (size_t i = 0; in && i < in->n; i++) /* one that this statement does not use is no error */
        if (in->v[i].text)
            sqlite3_bind_text(st, (int)i + 1, in->v[i].text, -1, SQLITE_TRANSIENT);
        else
            sqlite3_bind_double(st, (int)i + 1, in->v[i].number);
}

/* The digits that give the number back. */
static char *shortest(double v)
{
    char *s = xstrfmt("%.15g", v);
    if (strtod(s, NULL) == v)
        return s;
    free(s);
    return xstrfmt("%.17g", v);
}

static void add_cell(struct sql_result *r, sqlite3_stmt *st, int column)
{
    const char *text = (const char *)sqlite3_column_text(st, column);
    int type = sqlite3_column_type(st, column);
    if (type == SQLITE_NULL) {
        sql_add(&r->cells, xstrdup(""), NAN);
    } else if (type == SQLITE_TEXT) {
        char *end;
        double v = strtod(text, &end);
        sql_add(&r->cells, xstrdup(text), *text && !*end ? v : (double)NAN);
    } else {
        double v = sqlite3_column_double(st, column);
        sql_add(&r->cells, shortest(v), v);
    }
}

int sql_run(struct sql *s, struct sql_result *r, const char *query, const struct sql_values *in,
            struct sql_source at)
{
    sqlite3_stmt *st = NULL;
    int step = SQLITE_DONE, code = sql_open(s);
    *r = (struct sql_result){0};
    if (!code && (sqlite3_prepare_v2(s->db, query, -1, &st, NULL) || !st))
        code = wrong(s, at);
    if (code)
        return code;
    bind(st, in);
    r->columns = (size_t)sqlite3_column_count(st);
    if (r->columns)
        r->name = xstrdup(sqlite3_column_name(st, 0));
    for (; (step = sqlite3_step(st)) == SQLITE_ROW; r->rows++)
        for (size_t i = 0; i < r->columns; i++)
            add_cell(r, st, (int)i);
    if (step != SQLITE_DONE)
        code = wrong(s, at);
    sqlite3_finalize(st);
    return code;
}
