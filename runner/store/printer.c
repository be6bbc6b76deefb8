/* SPDX-License-Identifier: Apache-2.0 */
#include "store/printer.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/stats.h"
#include "base/term.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/contrast.h"
#include "store/column_words.h"
#include "store/tex.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const char *const print_formats[PRINT_FORMATS] = {"text", "csv", "json", "lines", "tex"};

/* ---- values ---- */

static char *human(double v, const char *unit)
{
    char buf[64];
    if (isnan(v))
        snprintf(buf, sizeof buf, "-");
    else if (!strcmp(unit, "B/s"))
        units_human_rate(buf, sizeof buf, v);
    else if (!strcmp(unit, "s"))
        units_human_time(buf, sizeof buf, v);
    else if (!strcmp(unit, "ns"))
        units_human_time(buf, sizeof buf, v * 1e-9);
    else if (!*unit || !strcmp(unit, "1"))
        snprintf(buf, sizeof buf, "%.3g", v);
    else
        units_human_si(buf, sizeof buf, v, unit);
    return xstrdup(buf);
}

/* A column of the store has its unit in its name; another name has none. */
static const char *unit_of(const char *name, size_t *n)
{
    const char *unit = column_unit(name, n);
    if (column_find(NULL, name))
        return unit;
    *n = strlen(name);
    return *unit && strchr(name, '_') ? unit : "";
}

static char *cell_of(sqlite3_stmt *st, int i, bool readable)
{
    size_t n;
    const char *unit = unit_of(sqlite3_column_name(st, i), &n);
    if (readable && !strcmp(unit, "B") && sqlite3_column_type(st, i) == SQLITE_INTEGER)
        return xstrdup(SHORT_SIZE(sqlite3_column_int64(st, i)));
    int type = sqlite3_column_type(st, i);
    double v = sqlite3_column_double(st, i);
    if (readable && (type == SQLITE_FLOAT || (type == SQLITE_INTEGER && *unit)))
        return human(v, unit);
    if (type == SQLITE_FLOAT) {
        char buf[32];
        snprintf(buf, sizeof buf, "%.12g", v);
        return xstrdup(isfinite(v) ? units_double(buf, sizeof buf, strtod(buf, NULL)) : "");
    }
    return xstrdup(readable && !*store_text(st, i) ? "-" : store_text(st, i));
}

/* ---- formats ---- */

struct print {
    struct printing *how;
    struct words cells; /* of text */
    int columns;
};

static void put_titles(struct print *p, sqlite3_stmt *st)
{
    bool csv = p->how->format == PRINT_CSV;
    for (int i = 0; i < p->columns; i++) {
        const char *title = sqlite3_column_name(st, i);
        size_t n = strlen(title);
        if (csv) {
            printf("%s%s", i ? "," : "", title);
        } else {
            unit_of(title, &n);
            words_addf(&p->cells, "%.*s", (int)n, title);
        }
    }
    if (csv)
        putchar('\n');
}

/* gnuplot runs the lines that it loads: a line break in a text does not begin another one. */
static void put_line(struct print *p, sqlite3_stmt *st)
{
    bool first = true;
    for (int i = 0; i < p->columns; i++) {
        if (sqlite3_column_type(st, i) == SQLITE_NULL)
            continue;
        AUTO_FREE char *cell = cell_of(st, i, false);
        if (!first)
            putchar(' ');
        for (const char *s = cell; *s; s++)
            putchar((unsigned char)*s < ' ' || *s == 0x7f ? ' ' : *s);
        first = false;
    }
    putchar('\n');
}

static void put_row(struct print *p, sqlite3_stmt *st)
{
    bool text = p->how->format == PRINT_TEXT;
    for (int i = 0; i < p->columns; i++) {
        AUTO_FREE char *cell = cell_of(st, i, text);
        if (!text) {
            AUTO_TEXT struct text field = {0};
            text_add(&field, i ? "," : "");
            csv_field(&field, cell);
            fputs(field.s, stdout);
        } else if (!p->how->most || p->how->rows < p->how->most) {
            words_add(&p->cells, cell);
        }
    }
    if (!text)
        putchar('\n');
}

static void add_json(json_t *rows, sqlite3_stmt *st)
{
    json_t *row = json_object();
    for (int i = 0; i < sqlite3_column_count(st); i++) {
        int type = sqlite3_column_type(st, i);
        json_object_set_new(row, sqlite3_column_name(st, i),
                            type == SQLITE_NULL      ? json_null()
                            : type == SQLITE_FLOAT   ? json_finite(sqlite3_column_double(st, i))
                            : type == SQLITE_INTEGER ? json_integer(sqlite3_column_int64(st, i))
                                                     : json_text(store_text(st, i)));
    }
    json_array_append_new(rows, row);
}

static int bind(sqlite3_stmt *st, const char *const *parameters)
{
    for (int i = 1; i <= sqlite3_bind_parameter_count(st); i++) {
        const char *name = sqlite3_bind_parameter_name(st, i), *value = NULL;
        size_t n = name ? strlen(name) - 1 : 0;
        for (size_t k = 0; n && parameters && parameters[k] && !value; k++)
            if (!strncmp(parameters[k], name + 1, n) && parameters[k][n] == '=')
                value = parameters[k] + n + 1;
        if (!value)
            return fail(GS_USAGE, "query: %s has no value; give it with --set %s=TEXT",
                        name ? name : "?", n ? name + 1 : "NAME");
        sqlite3_bind_text(st, i, value, -1, SQLITE_STATIC);
    }
    return GS_OK;
}

static bool makes_temporary(sqlite3_stmt *st)
{
    const char *sql = sqlite3_sql(st), *comment;
    while (*(sql += strspn(sql, " \n\t")) == '-' && (comment = strchr(sql, '\n')))
        sql = comment;
    return !strncasecmp(sql, "CREATE TEMP ", strlen("CREATE TEMP "));
}

/* The last statement. Those before it were executed: they make temporary tables alone, because
 * the store holds nothing that does not come from a recording. */
static sqlite3_stmt *prepare(struct store *s, const char *sql, const char *const *parameters)
{
    for (sqlite3_stmt *st = NULL;; sqlite3_finalize(st)) {
        if (sqlite3_prepare_v2(s->db, sql, -1, &st, &sql)) {
            fail(GS_USAGE,
                 "query: %s; 'gradsync help query' has an example, 'gradsync help tables' lists "
                 "the tables",
                 sqlite3_errmsg(s->db));
            return NULL;
        }
        bool last = !sql[strspn(sql, " ;\n\t")];
        if (!st)
            fail(GS_USAGE, "query: give a SELECT");
        else if (!bind(st, parameters)) {
            if (last && sqlite3_stmt_readonly(st) && sqlite3_column_count(st))
                return st;
            if (last || !makes_temporary(st))
                fail(GS_USAGE, "query: only a SELECT, and CREATE TEMP TABLE before it: the store "
                               "holds what the recordings hold");
            else if (sqlite3_step(st) == SQLITE_DONE)
                continue;
            else
                store_failed(s);
        }
        sqlite3_finalize(st);
        return NULL;
    }
}

int print_query(struct store *s, const char *sql, struct printing *how)
{
    if (how->format == PRINT_TEX)
        return tex_print(s, sql);
    struct print p = {.how = how};
    AUTO_JSON json_t *json = how->format == PRINT_JSON ? json_array() : NULL;
    sqlite3_stmt *st = prepare(s, sql, how->parameters);
    int step;
    if (!st)
        return GS_USAGE;
    how->rows = 0;
    bool lines = how->format == PRINT_LINES;
    p.columns = sqlite3_column_count(st);
    if (!json && !lines)
        put_titles(&p, st);
    for (; (step = sqlite3_step(st)) == SQLITE_ROW; how->rows++)
        if (json)
            add_json(json, st);
        else if (lines)
            put_line(&p, st);
        else
            put_row(&p, st);
    int code = step == SQLITE_DONE ? GS_OK : store_failed(s);
    if (json && !code) {
        AUTO_JSON json_t *o = json_pack("{ss sO}", "schema", "gradsync-query-1", "rows", json);
        json_print(o, JSON_INDENT(1));
    }
    if (how->format == PRINT_TEXT && !code && how->rows)
        text_table_print(&p.cells, (size_t)p.columns, how->keys, how->fine);
    words_free(&p.cells);
    sqlite3_finalize(st);
    return code;
}

int print_lines(struct store *s, const char *sql, void (*line)(const char *text))
{
    AUTO_WORDS struct words lines = {0};
    CHECK(store_texts(s, sql, &lines));
    for (size_t i = 0; i < lines.n; i++)
        if (!*lines.v[i])
            continue;
        else if (line)
            line(lines.v[i]);
        else
            puts(lines.v[i]);
    return GS_OK;
}

/* ---- functions ---- */

/* The functions that make the text of a number. A size is that of a buffer, whose sizes are powers of two. */
static void sql_text(sqlite3_context *c, int n, sqlite3_value **v)
{
    const char *name = sqlite3_user_data(c);
    bool none = sqlite3_value_type(v[0]) == SQLITE_NULL;
    double x = none ? (double)NAN : sqlite3_value_double(v[0]);
    const char *unit = n > 1 ? (const char *)sqlite3_value_text(v[1]) : NULL;
    char *text;
    if (!strcmp(name, "human"))
        text = human(x, unit ? unit : "");
    else if (!strcmp(name, "human_size"))
        text = xstrdup(HUMAN_SIZE(none ? 0 : x));
    else if (!strcmp(name, "short_size"))
        text = xstrdup(SHORT_SIZE(sqlite3_value_int64(v[0])));
    else if (!strcmp(name, "human_rate"))
        text = none ? NULL : xstrdup(HUMAN_RATE(x));
    else /* human_change: "+5%" of 0.05 */
        text = none ? xstrdup("-") : xstrfmt("%+.0f%%", 100 * x);
    sqlite3_result_text(c, text, -1, free); /* NULL: of NULL */
}

static void sql_shorten(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    const char *s = (const char *)sqlite3_value_text(v[0]);
    size_t end = 0, most = (size_t)sqlite3_value_int(v[1]);
    if (!s || text_width(s) <= most) {
        sqlite3_result_value(c, v[0]);
        return;
    }
    for (size_t width = 0; width < most; end++)
        width += ((unsigned char)s[end] & 0xc0) != 0x80;
    sqlite3_result_text(c, xstrfmt("%.*s…", (int)end - 1, s), -1, free);
}

/* The value of NAME in "NAME=VALUE NAME=VALUE"; NULL: it is not there. */
static void sql_param(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    const char *s = (const char *)sqlite3_value_text(v[0]);
    const char *name = (const char *)sqlite3_value_text(v[1]);
    size_t len = name ? strlen(name) : 0;
    for (; s && len; s += *s == ' ') {
        size_t word = strcspn(s, " ");
        if (word > len && !strncmp(s, name, len) && s[len] == '=') {
            sqlite3_result_text(c, s + len + 1, (int)(word - len - 1), SQLITE_TRANSIENT);
            return;
        }
        s += word;
        if (!*s)
            return;
    }
}

static void sql_by_name(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    const char *params = (const char *)sqlite3_value_text(v[0]);
    AUTO_WORDS struct words w = {0};
    struct text t = {0};
    words_split(&w, params ? params : "", ' ');
    words_sort(&w);
    text_add(&t, "");
    for (size_t i = 0; i < w.n; i++)
        text_addf(&t, "%s%s", i ? " " : "", w.v[i]);
    sqlite3_result_text(c, t.s, -1, free);
}

/* ---- estimates of the values of a group ---- */

struct group_values {
    double *v;
    size_t n;
};

static void sql_add(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    struct group_values *x = sqlite3_aggregate_context(c, sizeof *x);
    if (x && sqlite3_value_type(v[0]) != SQLITE_NULL)
        APPEND(x->v, x->n) = sqlite3_value_double(v[0]);
}

static const char *const estimates[] = {"median", "median_low", "median_high", "mean_error"};

static void sql_estimate(sqlite3_context *c)
{
    const char *const *which = sqlite3_user_data(c);
    struct group_values none = {0}, *x = sqlite3_aggregate_context(c, sizeof *x);
    x = x ? x : &none;
    struct interval ci = stats_median_ci(x->v, x->n, CONTRAST_LEVEL);
    double error = stats_mean_error(x->v, x->n);
    if (x->n > 1)
        error *= student_quantile((1 - CONTRAST_LEVEL) / 2, (double)x->n - 1);
    const double values[] = {x->n ? stats_median(x->v, x->n) : (double)NAN, ci.lo, ci.hi, error};
    sqlite3_result_double(c, values[which - estimates]);
    free(x->v);
}

int print_functions(struct store *s)
{
    for (size_t i = 0; i < COUNT(estimates); i++)
        if (sqlite3_create_function(s->db, estimates[i], 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                    (void *)&estimates[i], NULL, sql_add, sql_estimate))
            return store_failed(s);
    static const struct {
        const char *name;
        int n;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {{"human", 2, sql_text},        {"human_size", 1, sql_text},
                     {"human_rate", 1, sql_text},   {"short_size", 1, sql_text},
                     {"human_change", 1, sql_text}, {"param", 2, sql_param},
                     {"shorten", 2, sql_shorten},   {"by_name", 1, sql_by_name}};
    for (size_t i = 0; i < COUNT(functions); i++)
        if (sqlite3_create_function(s->db, functions[i].name, functions[i].n,
                                    SQLITE_UTF8 | SQLITE_DETERMINISTIC, (void *)functions[i].name,
                                    functions[i].call, NULL, NULL))
            return store_failed(s);
    return GS_OK;
}
