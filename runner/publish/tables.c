/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/tables.h"

#include "base/csv.h"
#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/plan.h"
#include "record/ledger.h"
#include "record/machine.h"
#include "record/recorded.h"
#include "record/runs.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- making one ---- */

static void add_column(struct grid *g, const char *name)
{
    APPEND(g->columns, g->n_columns) = xstrdup(name);
}

static struct grid *grid_new(const char *name, const char *path, const char *const *columns)
{
    struct grid *g = xcalloc(1, sizeof *g);
    g->name = xstrdup(name);
    g->path = xstrdup(path);
    for (size_t i = 0; columns[i]; i++)
        add_column(g, columns[i]);
    return g;
}

/* Copies one field for each column; NULL is "". */
static void grid_add(struct grid *g, long line, const char *const *fields)
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

/* Its index in `columns`; n_columns: no such column. */
static size_t grid_column(const struct grid *g, const char *name)
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

/* The value, in buf if it is not a whole field; NULL: neither a column nor a parameter. */
static const char *grid_get(const struct grid *g, size_t row, const char *key, char *buf, size_t n)
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

/* If several runs have a row for the same cell, keeps one: that of the run with most progress, then
 * of the latest (names begin with the time). Does nothing without a column run_id. */
/* of every row */
static void grid_latest(struct grid *g, const enum grid_run *runs)
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

/* ---- runs ---- */

/* The columns after the machine's, which machine.c names. */
enum { RUN_LAUNCHES = MACHINE_FACTS, RUN_FINISHED, RUN_PATH, RUN_COLUMNS };
static const char *const run_rest[] = {"launches", "finished", "path"};

static int add_run(struct grid *g, const char *dir)
{
    AUTO(machine_free) struct machine m = {0};
    const char *fields[RUN_COLUMNS];
    char launches[24];
    int code = machine_of_run(&m, dir);
    if (!code)
        code = ledger_check_run(dir);
    if (!code && m.files) {
        for (size_t i = 0; i < MACHINE_FACTS; i++)
            fields[i] = m.facts[i];
        snprintf(launches, sizeof launches, "%d", m.launches);
        fields[RUN_LAUNCHES] = launches;
        fields[RUN_FINISHED] = run_is_final(dir) ? "yes" : "no";
        fields[RUN_PATH] = dir;
        grid_add(g, (long)g->n + 1, fields);
    }
    return code;
}

/* The three tables from other sources. */
static int paper_tables_runs(struct grid **out, const char *raw)
{
    const char *columns[RUN_COLUMNS + 1] = {NULL};
    struct runs runs = {0};
    int code = runs_find(&runs, raw);
    for (size_t i = 0; i < RUN_COLUMNS; i++)
        columns[i] = i < MACHINE_FACTS ? machine_facts[i] : run_rest[i - MACHINE_FACTS];
    struct grid *g = grid_new("runs", raw, columns);
    if (!code)
        code = runs_sort(&runs);
    for (size_t i = 0; i < runs.n && !code; i++)
        code = runs_measured(runs.v[i].dir) ? add_run(g, runs.v[i].dir) : GS_OK;
    runs_free(&runs);
    if (code)
        grid_free(g);
    else
        *out = g;
    return code;
}

/* ---- settings ---- */

static struct grid *paper_tables_settings(void)
{
    static const char *const columns[] = {"section", "key", "value", "unit", "help", NULL};
    struct grid *g = grid_new("settings", "gradsync itself", columns);
    for (const struct settings_section *s = settings_sections; s->name; s++)
        for (const struct wl_param *p = s->table; p && p->name; p++)
            grid_add(g, (long)g->n + 1,
                     (const char *const[]){s->name, p->name, p->def, p->unit, p->help});
    return g;
}

/* ---- asked ---- */

static int add_asked(struct grid *g, const char *configs, const char *file)
{
    struct config *c;
    AUTO_FREE char *path = xstrfmt("%s/%s", configs, file);
    AUTO_FREE char *platform = xstrfmt("%.*s", (int)(strlen(file) - strlen(".ini")), file);
    int code = config_load(&c, path, NULL);
    for (const struct settings_section *s = settings_sections; !code && s->name; s++)
        for (const struct wl_param *p = s->table; p && p->name; p++) {
            const struct config_entry *e = config_find(c, s->name, p->name);
            AUTO_FREE char *place =
                e ? xstrfmt("%s:%d", e->file, e->line) : xstrdup("the program's own");
            grid_add(
                g, (long)g->n + 1,
                (const char *const[]){platform, s->name, p->name, e ? e->value : p->def, place});
        }
    if (!code)
        config_free(c);
    return code;
}

static int paper_tables_asked(struct grid **out, const char *configs)
{
    static const char *const columns[] = {"platform", "section", "key", "value", "place", NULL};
    AUTO_WORDS struct words files = {0};
    struct grid *g = grid_new("asked", configs, columns);
    int code = GS_OK;
    files_list(configs, "*.ini", &files);
    for (size_t i = 0; i < files.n && !code; i++)
        code = add_asked(g, configs, files.v[i]);
    if (code)
        grid_free(g);
    else
        *out = g;
    return code;
}

/* ---- a table by its name ---- */

int paper_tables_no_table(const struct paper_tables *s, const char *name, const char *path)
{
    AUTO_WORDS struct words w = {0};
    files_list(s->csv, "*.csv", &w);
    for (size_t i = 0; i < w.n; i++)
        w.v[i][strlen(w.v[i]) - strlen(".csv")] = '\0';
    const char *near = text_nearest(name, (const char *const *)w.v, w.n);
    AUTO_TEXT struct text names = {0};
    for (size_t i = 0; i < w.n; i++)
        text_addf(&names, "%s%s", i ? ", " : "", w.v[i]);
    return w.n ? fail(GS_USAGE,
                      "no table '%s': %s does not exist%s; the tables are %s ('make tables' makes "
                      "them, 'make paper' those of the paper)",
                      name, path, DID_YOU_MEAN(near), names.s)
               : fail(GS_USAGE,
                      "no table in %s; run 'make tables', or 'make paper' for those of the paper",
                      s->csv);
}

static int read_table(struct paper_tables *s, const char *name, struct grid **out)
{
    if (!strcmp(name, "runs"))
        return paper_tables_runs(out, s->raw);
    if (!strcmp(name, "asked"))
        return paper_tables_asked(out, s->configs);
    if (!strcmp(name, "settings")) {
        *out = paper_tables_settings();
        return GS_OK;
    }
    AUTO_FREE char *path = xstrfmt("%s/%s.csv", s->csv, name);
    return access(path, F_OK) ? paper_tables_no_table(s, name, path) : grid_read(out, name, path);
}

static enum grid_run state_of(const char *dir)
{
    return !runs_measured(dir) ? GRID_RUN_EMPTY
           : run_is_final(dir) ? GRID_RUN_FINISHED
                               : GRID_RUN_PART;
}

static void keep_latest(struct paper_tables *s, struct grid *g)
{
    AUTO_FREE enum grid_run *runs = xcalloc(g->n + 1, sizeof *runs);
    for (size_t i = 0; i < g->n && grid_has(g, "run_id"); i++) {
        /* Rows of a run stand together. */
        if (i && !strcmp(grid_text(g, i, "run_id"), grid_text(g, i - 1, "run_id"))) {
            runs[i] = runs[i - 1];
            continue;
        }
        AUTO_FREE char *dir = paper_tables_run(s, g, i, ROW_RUN);
        runs[i] = dir ? state_of(dir) : GRID_RUN_EMPTY;
    }
    grid_latest(g, runs);
}

int paper_tables_find(struct paper_tables *s, const char *name, const struct grid **out)
{
    struct grid *g = NULL;
    *out = NULL;
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->v[i]->name, name)) {
            *out = s->v[i];
            return GS_OK;
        }
    int code = read_table(s, name, &g);
    if (code)
        return code;
    if (strcmp(name, "placebo") != 0) /* how the method did counts in every recording */
        keep_latest(s, g);
    g->judged = xcalloc(g->n + 1, sizeof *g->judged);
    *out = APPEND(s->v, s->n) = g;
    return GS_OK;
}

void paper_tables_free(struct paper_tables *s)
{
    for (size_t i = 0; i < s->n; i++)
        grid_free(s->v[i]);
    free(s->v);
    s->v = NULL;
    s->n = 0;
}

/* ---- the run of a row ---- */

/* The latest finished one of a section, or the latest. */
static const char *latest_run(struct paper_tables *s, const struct grid *g, size_t row)
{
    static const char *const section[] = {"platform", "workload", "label"};
    const struct grid *runs;
    const char *best = NULL;
    bool best_finished = false;
    if (paper_tables_find(s, "runs", &runs))
        return NULL;
    for (size_t i = 0; i < runs->n; i++) {
        bool same = true;
        for (size_t k = 0; k < 3; k++)
            same = same && !strcmp(grid_text(runs, i, section[k]), grid_text(g, row, section[k]));
        bool finished = !strcmp(grid_text(runs, i, "finished"), "yes");
        const char *run = grid_text(runs, i, "run_id");
        if (same && (!best || finished > best_finished ||
                     (finished == best_finished && strcmp(run, best) > 0))) {
            best = run;
            best_finished = finished;
        }
    }
    return best;
}

/* The folder of a run that a table names without its workload. */
static const char *path_of_run(struct paper_tables *s, const struct grid *g, size_t row)
{
    const struct grid *runs;
    if (paper_tables_find(s, "runs", &runs))
        return NULL;
    for (size_t i = 0; i < runs->n; i++)
        if (!strcmp(grid_text(runs, i, "run_id"), grid_text(g, row, "run_id")) &&
            !strcmp(grid_text(runs, i, "platform"), grid_text(g, row, "platform")))
            return grid_text(runs, i, "path");
    return NULL;
}

char *paper_tables_run(struct paper_tables *s, const struct grid *g, size_t row, enum row_run which)
{
    const char *column = which == ROW_RUN ? "run_id" : "earlier_run_id";
    if (which != ROW_RUN && !grid_has(g, column))
        return NULL;
    if (!grid_has(g, "platform") || !(grid_has(g, "workload") || grid_has(g, "run_id")))
        return NULL;
    if (!grid_has(g, "workload")) {
        const char *path = path_of_run(s, g, row);
        return path ? xstrdup(path) : NULL;
    }
    const char *run = grid_has(g, column) ? grid_text(g, row, column) : latest_run(s, g, row);
    return run ? xstrfmt("%s/%s/%s/%s", s->raw, grid_text(g, row, "platform"),
                         grid_text(g, row, "workload"), run)
               : NULL;
}

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

/* reports what SQLite says; GS_FAILED */
static int sql_failed(const struct sql *s)
{
    return fail(GS_FAILED, "SQLite: %s", sqlite3_errmsg(s->db));
}

/* GS_OK or reported */
static int sql_execute(struct sql *s, const char *text)
{
    return sqlite3_exec(s->db, text, NULL, NULL, NULL) ? sql_failed(s) : GS_OK;
}

/* Opens the database unless it is open. GS_OK or reported. */
static int sql_open(struct sql *s)
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

/* ---- sql table ----
 *
 * The tables of tables.h: columns, types, rows and index.
 */

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
