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

static struct grid *grid_new(const char *name, const char *path)
{
    struct grid *g = xcalloc(1, sizeof *g);
    g->name = xstrdup(name);
    g->path = xstrdup(path);
    return g;
}

/* A row with one field for each column; NULL is "". */
static void grid_add(struct grid *g, long line, const char *const *fields)
{
    APPEND(g->lines, g->n) = line;
    for (size_t i = 0; i < g->columns.n; i++)
        words_add(&g->fields, fields[i] ? fields[i] : "");
}

int grid_read(struct grid **out, const char *name, const char *path)
{
    static const char *const none[] = {NULL};
    AUTO(csv_read_close) struct csv_reader r = {0};
    bool got;
    *out = NULL;
    CHECK(csv_read_open(&r, path, none));
    struct grid *g = *out = grid_new(name, path);
    for (size_t i = 0; i < r.n_header; i++)
        words_add(&g->columns, r.fields.s + r.starts[i]);
    AUTO_FREE const char **fields = xcalloc(r.n_header + 1, sizeof *fields);
    for (;;) {
        CHECK(csv_read_row(&r, &got));
        if (!got)
            return GS_OK;
        for (size_t i = 0; i < g->columns.n; i++)
            fields[i] = r.fields.s + r.starts[i];
        grid_add(g, r.number, fields);
    }
}

void grid_free(struct grid *g)
{
    if (!g)
        return;
    words_free(&g->columns);
    words_free(&g->fields);
    free(g->lines);
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

bool grid_has(const struct grid *g, const char *column)
{
    return words_has(&g->columns, column);
}

const char *grid_field(const struct grid *g, size_t row, size_t column)
{
    return g->fields.v[row * g->columns.n + column];
}

const char *grid_text(const struct grid *g, size_t row, const char *column)
{
    size_t i = words_find(&g->columns, column);
    return i < g->columns.n ? grid_field(g, row, i) : "";
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
    CHECK(machine_of_run(&m, dir));
    CHECK(ledger_check_run(dir));
    if (!m.files)
        return GS_OK;
    for (size_t i = 0; i < MACHINE_FACTS; i++)
        fields[i] = m.facts[i];
    snprintf(launches, sizeof launches, "%d", m.launches);
    fields[RUN_LAUNCHES] = launches;
    fields[RUN_FINISHED] = run_is_final(dir) ? "yes" : "no";
    fields[RUN_PATH] = dir;
    grid_add(g, (long)g->n + 1, fields);
    return GS_OK;
}

int grid_runs(struct grid **out, const char *raw, bool all)
{
    AUTO(runs_free) struct runs runs = {0};
    struct grid *g = *out = grid_new("runs", raw);
    for (size_t i = 0; i < RUN_COLUMNS; i++)
        words_add(&g->columns, i < MACHINE_FACTS ? machine_facts[i] : run_rest[i - MACHINE_FACTS]);
    CHECK(runs_find(&runs, raw));
    CHECK(runs_sort(&runs));
    for (size_t i = 0; i < runs.n; i++)
        if (all || runs_measured(runs.v[i].dir))
            CHECK(add_run(g, runs.v[i].dir));
    return GS_OK;
}

/* ---- settings ---- */

static int read_settings(struct grid **out)
{
    struct grid *g = *out = grid_new("settings", "gradsync itself");
    words_split(&g->columns, "section,key,value,unit,help", ',');
    for (const struct settings_section *s = settings_sections; s->name; s++)
        for (const struct wl_param *p = s->table; p && p->name; p++)
            grid_add(g, (long)g->n + 1,
                     (const char *const[]){s->name, p->name, p->def, p->unit, p->help});
    return GS_OK;
}

/* ---- asked ---- */

static int add_asked(struct grid *g, const char *configs, const char *file)
{
    AUTO(config_free_of) struct config *c = NULL;
    AUTO_FREE char *path = xstrfmt("%s/%s", configs, file);
    AUTO_FREE char *platform = xstrfmt("%.*s", (int)(strlen(file) - strlen(".ini")), file);
    CHECK(config_load(&c, path, NULL));
    for (const struct settings_section *s = settings_sections; s->name; s++)
        for (const struct wl_param *p = s->table; p && p->name; p++) {
            const struct config_entry *e = config_find(c, s->name, p->name);
            AUTO_FREE char *place =
                e ? xstrfmt("%s:%d", e->file, e->line) : xstrdup("the program's own");
            grid_add(
                g, (long)g->n + 1,
                (const char *const[]){platform, s->name, p->name, e ? e->value : p->def, place});
        }
    return GS_OK;
}

static int read_asked(struct grid **out, const char *configs)
{
    AUTO_WORDS struct words files = {0};
    struct grid *g = *out = grid_new("asked", configs);
    words_split(&g->columns, "platform,section,key,value,place", ',');
    files_list(configs, "*.ini", &files);
    for (size_t i = 0; i < files.n; i++)
        CHECK(add_asked(g, configs, files.v[i]));
    return GS_OK;
}

/* ---- the database ---- */

/* admissible(rowid): whether a query may see this row of the table that is being read. */
static void admissible(sqlite3_context *context, int n, sqlite3_value **v)
{
    const struct paper_tables *s = sqlite3_user_data(context);
    (void)n;
    sqlite3_int64 row = sqlite3_value_int64(v[0]) - 1;
    bool known = s->reading && row >= 0 && (size_t)row < s->reading->n;
    int judged = known ? s->reading->judged[row] : ROW_REPLACED;
    sqlite3_result_int(context, judged == ROW_GOOD || (s->refused && judged != ROW_REPLACED));
}

/* progress(rowid): of the run of the row. 0: nothing was measured; 1: it is not finished; 2: it is. */
static void progress(sqlite3_context *context, int n, sqlite3_value **v)
{
    struct paper_tables *s = sqlite3_user_data(context);
    (void)n;
    size_t row = (size_t)sqlite3_value_int64(v[0]) - 1;
    const char *run = grid_text(s->reading, row, "run_id");
    if (!s->run || strcmp(s->run, run) != 0) { /* rows of a run stand together */
        AUTO_FREE char *dir = paper_tables_run(s, s->reading, row, ROW_RUN);
        s->progress = !dir || !runs_measured(dir) ? 0 : run_is_final(dir) ? 2 : 1;
        xstrset(&s->run, run);
    }
    sqlite3_result_int(context, s->progress);
}

/* Opens the database unless it is open. GS_OK or reported. */
static int open_tables(struct paper_tables *s)
{
    if (s->store.db)
        return GS_OK;
    CHECK(store_open(&s->store, NULL));
    if (sqlite3_create_function(s->store.db, "admissible", 1, SQLITE_UTF8, s, admissible, NULL,
                                NULL) ||
        sqlite3_create_function(s->store.db, "progress", 1, SQLITE_UTF8, s, progress, NULL, NULL))
        return store_failed(&s->store);
    CHECK(
        store_execute(&s->store, "CREATE TEMP TABLE numbers (name TEXT, plain TEXT, value REAL)"));
    s->add_number = store_prepare(&s->store, "INSERT INTO numbers (rowid, name, plain, value) "
                                             "VALUES (?, ?, ?, ?)");
    return s->add_number ? GS_OK : GS_FAILED;
}

/* ---- the table of numbers ---- */

int sql_clear_numbers(struct paper_tables *s)
{
    s->reading = NULL;
    int code = open_tables(s);
    return code ? code : store_execute(&s->store, "DELETE FROM numbers");
}

int sql_add_number(struct paper_tables *s, size_t row, const char *name, const char *plain,
                   double value)
{
    sqlite3_stmt *st = s->add_number;
    sqlite3_bind_int64(st, 1, (sqlite3_int64)row);
    sqlite3_bind_text(st, 2, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 3, plain, -1, SQLITE_STATIC);
    sqlite3_bind_double(st, 4, value); /* NaN is NULL */
    int step = sqlite3_step(st);
    sqlite3_reset(st);
    return step == SQLITE_DONE ? GS_OK : store_failed(&s->store);
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
    for (size_t i = 0; i < COUNT(clauses); i++) {
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

static int wrong(const struct paper_tables *s, struct sql_source at)
{
    static const char column[] = "no such column: ";
    const char *text = sqlite3_errmsg(s->store.db), *near = NULL;
    if (s->reading && !strncmp(text, column, strlen(column)))
        near = text_nearest(text + strlen(column), (const char *const *)s->reading->columns.v,
                            s->reading->columns.n);
    return near ? fail_at(GS_USAGE, at.file, at.line, "table %s has %s%s", s->reading->name, text,
                          DID_YOU_MEAN(near))
                : fail_at(GS_USAGE, at.file, at.line, "%s", text);
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
    int type = sqlite3_column_type(st, column);
    bool number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    AUTO_FREE char *text = number ? shortest(sqlite3_column_double(st, column)) : NULL;
    words_add(&r->cells, number ? text : store_text(st, column));
}

double sql_number(const char *cell)
{
    char *end;
    double v = strtod(cell, &end);
    return *cell && !*end ? v : (double)NAN;
}

int sql_run(struct paper_tables *s, struct sql_result *r, const char *query, struct sql_source at)
{
    sqlite3_stmt *st = NULL;
    int step = SQLITE_DONE;
    *r = (struct sql_result){0};
    CHECK(open_tables(s));
    if (sqlite3_prepare_v2(s->store.db, query, -1, &st, NULL) || !st)
        return wrong(s, at);
    r->columns = (size_t)sqlite3_column_count(st);
    if (r->columns)
        r->name = xstrdup(sqlite3_column_name(st, 0));
    for (; (step = sqlite3_step(st)) == SQLITE_ROW; r->rows++)
        for (size_t i = 0; i < r->columns; i++)
            add_cell(r, st, (int)i);
    int code = step == SQLITE_DONE ? GS_OK : wrong(s, at);
    sqlite3_finalize(st);
    return code;
}

void sql_result_free(struct sql_result *r)
{
    words_free(&r->cells);
    free(r->name);
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

/* The columns, `line`, and the keys of `params`. */
static void list_keys(struct words *keys, const struct grid *g)
{
    for (size_t i = 0; i < g->columns.n; i++)
        words_add(keys, g->columns.v[i]);
    words_add_once(keys, "line");
    for (size_t row = 0; row < g->n && grid_has(g, "params"); row++) {
        AUTO_WORDS struct words params = {0};
        words_split(&params, grid_text(g, row, "params"), ' ');
        for (size_t i = 0; i < params.n; i++) {
            char *equals = strchr(params.v[i], '=');
            if (!equals)
                continue;
            *equals = '\0';
            words_add_once(keys, params.v[i]);
        }
    }
}

/* The row as a table of the store has it: a value for each key, "" if it has none. They are in the grid
 * or in `own`, which the caller frees. */
static void values_of(const struct grid *g, size_t row, const struct words *keys,
                      const char **values, struct words *own)
{
    for (size_t k = 0; k < keys->n; k++)
        values[k] = k < g->columns.n ? grid_field(g, row, k) : "";
    words_split(own, grid_text(g, row, "params"), ' ');
    size_t params = own->n;
    words_addf(own, "%ld", g->lines[row]);
    if (!grid_has(g, "line"))
        values[g->columns.n] = own->v[params];
    for (size_t i = 0; i < params; i++) {
        char *equals = strchr(own->v[i], '=');
        if (!equals)
            continue;
        *equals = '\0';
        size_t k = words_find(keys, own->v[i]);
        if (k >= g->columns.n && !*values[k])
            values[k] = equals + 1;
    }
}

/* Which keys have numbers alone. A table that is not a file has versions: "13.0" is no number. */
static void find_numbers(const struct grid *g, const struct words *keys, const char **values,
                         bool *numbers)
{
    bool file = text_ends(g->path, ".csv");
    for (size_t k = 0; k < keys->n; k++)
        numbers[k] = file || !strcmp(keys->v[k], "line");
    for (size_t row = 0; file && row < g->n; row++) {
        AUTO_WORDS struct words own = {0};
        values_of(g, row, keys, values, &own);
        for (size_t k = 0; k < keys->n; k++)
            numbers[k] = numbers[k] && (!*values[k] || is_number(values[k]));
    }
}

static int insert_rows(struct paper_tables *s, const struct grid *g, const struct words *keys,
                       const char **values, const bool *numbers, const char *insert)
{
    sqlite3_stmt *st = store_prepare(&s->store, insert);
    int code = st ? GS_OK : GS_FAILED;
    for (size_t row = 0; row < g->n && !code; row++) {
        AUTO_WORDS struct words own = {0};
        values_of(g, row, keys, values, &own);
        for (size_t k = 0; k < keys->n; k++)
            if (!*values[k])
                sqlite3_bind_null(st, (int)k + 1);
            else if (numbers[k])
                sqlite3_bind_double(st, (int)k + 1, strtod(values[k], NULL));
            else
                sqlite3_bind_text(st, (int)k + 1, values[k], -1, SQLITE_STATIC);
        if (sqlite3_step(st) != SQLITE_DONE)
            code = store_failed(&s->store);
        sqlite3_reset(st);
    }
    sqlite3_finalize(st);
    return code;
}

/* An index of the columns by which most queries choose rows, as far as the table has them. */
static int index_rows(struct paper_tables *s, const struct grid *g, const struct words *keys)
{
    static const char *const chosen_by[] = {"platform", "workload", "label", "mode", "size"};
    AUTO_TEXT struct text t = {0};
    size_t n = 0;
    text_addf(&t, "CREATE INDEX temp.\"index of %s\" ON \"rows of %s\" (", g->name, g->name);
    for (size_t c = 0; c < COUNT(chosen_by); c++)
        if (words_has(keys, chosen_by[c]))
            text_addf(&t, "%s\"%s\"", n++ ? ", " : "", chosen_by[c]);
    text_add(&t, ")");
    return n ? store_execute(&s->store, t.s) : GS_OK;
}

/* The view hides the rows that are refused. It has the name of the table, which it shadows. */
static int load(struct paper_tables *s, const struct grid *g)
{
    AUTO_WORDS struct words keys = {0};
    AUTO_TEXT struct text create = {0}, insert = {0};
    list_keys(&keys, g);
    AUTO_FREE bool *numbers = xcalloc(keys.n, sizeof *numbers);
    AUTO_FREE const char **values = xcalloc(keys.n, sizeof *values);
    find_numbers(g, &keys, values, numbers);
    text_addf(&create, "BEGIN; CREATE TEMP TABLE \"rows of %s\" (", g->name);
    text_addf(&insert, "INSERT INTO \"rows of %s\" VALUES (", g->name);
    for (size_t k = 0; k < keys.n; k++) {
        text_addf(&create, "%s\"%s\" %s", k ? ", " : "", keys.v[k], numbers[k] ? "REAL" : "TEXT");
        text_addf(&insert, "%s?", k ? ", " : "");
    }
    text_addf(&create,
              "); CREATE TEMP VIEW \"%s\" AS SELECT rowid AS rowid, * FROM \"rows of %s\" "
              "WHERE admissible(rowid)",
              g->name, g->name);
    text_add(&insert, ")");
    CHECK(store_execute(&s->store, create.s));
    CHECK(insert_rows(s, g, &keys, values, numbers, insert.s));
    CHECK(index_rows(s, g, &keys));
    return store_execute(&s->store, "COMMIT");
}

/* ---- of several runs, one ---- */

static void replace_row(void *g, sqlite3_stmt *st)
{
    ((struct grid *)g)->judged[sqlite3_column_int64(st, 0) - 1] = ROW_REPLACED;
}

/* If several runs have rows for the same cell, those of one stand: of the run with most progress, then
 * of the latest. Without a column run_id all do. */
static int keep_standing(struct paper_tables *s, struct grid *g)
{
    /* Tables without a column of parameters have their hash, cell_id. wan.csv needs its own columns:
     * there the hash also changes with the version of wan_sync. */
    static const char *const same[] = {"platform", "workload", "label",   "config",    "mode",
                                       "params",   "size_B",   "metric",  "launch",    "job",
                                       "cell_id",  "every",    "overlap", "fragments", "transport"};
    enum { CELL_ID = 10 };
    const struct grid *runs;
    AUTO_TEXT struct text t = {0};
    bool wan = grid_has(g, "strategy"), hash = !wan && !grid_has(g, "params");
    if (!grid_has(g, "run_id"))
        return GS_OK;
    int code = grid_has(g, "workload") ? GS_OK : paper_tables_find(s, "runs", &runs);
    for (size_t i = 0; i < COUNT(same); i++)
        if (grid_has(g, same[i]) && (i < CELL_ID || (i == CELL_ID ? hash : wan)))
            text_addf(&t, "%s%s", t.len ? ", " : "PARTITION BY ", same[i]);
    AUTO_FREE char *query =
        xstrfmt("SELECT rowid FROM (SELECT rowid, run_id, first_value(run_id) OVER (%s ORDER "
                "BY " STORE_STANDS("progress(rowid)", "run_id") ") AS stands FROM \"rows of %s\") "
                                                                "WHERE run_id IS NOT stands",
                t.len ? t.s : "", g->name);
    const struct grid *before = s->reading;
    free(s->run);
    s->run = NULL;
    s->reading = g;
    TRY(code, store_each(&s->store, query, replace_row, g));
    s->reading = before;
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
        return grid_runs(out, s->raw, false);
    if (!strcmp(name, "asked"))
        return read_asked(out, s->configs);
    if (!strcmp(name, "settings"))
        return read_settings(out);
    AUTO_FREE char *path = xstrfmt("%s/%s.csv", s->csv, name);
    return access(path, F_OK) ? paper_tables_no_table(s, name, path) : grid_read(out, name, path);
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
    if (code) {
        grid_free(g);
        return code;
    }
    g->judged = xcalloc(g->n + 1, sizeof *g->judged);
    *out = APPEND(s->v, s->n) = g;
    CHECK(open_tables(s));
    CHECK(load(s, g));
    /* How the method did counts in every recording. */
    return strcmp(name, "placebo") ? keep_standing(s, g) : GS_OK;
}

void paper_tables_free(struct paper_tables *s)
{
    for (size_t i = 0; i < s->n; i++)
        grid_free(s->v[i]);
    free(s->v);
    s->v = NULL;
    s->n = 0;
    sqlite3_finalize(s->add_number);
    s->add_number = NULL;
    free(s->run);
    s->run = NULL;
    store_close(&s->store);
}

/* ---- the run of a row ---- */

/* The value of column `what` in the row of `runs` to which this row belongs: the run that counts for
 * its section. A row without a workload is looked up by platform and run id. The caller frees it;
 * NULL: none. */
static char *run_of(struct paper_tables *s, const struct grid *g, size_t row, const char *what,
                    const char *const *alike)
{
    const struct grid *runs;
    AUTO_TEXT struct text query = {0};
    sqlite3_stmt *st = NULL;
    char *found = NULL;
    if (paper_tables_find(s, "runs", &runs))
        return NULL;
    text_addf(&query, "SELECT %s FROM \"rows of runs\" WHERE 1", what);
    for (size_t i = 0; alike[i]; i++)
        text_addf(&query, " AND ifnull(%s, '') = ?", alike[i]);
    text_add(&query, " ORDER BY " STORE_STANDS("finished", "run_id"));
    if (!(st = store_prepare(&s->store, query.s)))
        return NULL;
    for (int i = 0; alike[i]; i++)
        sqlite3_bind_text(st, i + 1, grid_text(g, row, alike[i]), -1, SQLITE_STATIC);
    if (sqlite3_step(st) == SQLITE_ROW)
        found = xstrdup(store_text(st, 0));
    sqlite3_finalize(st);
    return found;
}

char *paper_tables_run(struct paper_tables *s, const struct grid *g, size_t row, enum row_run which)
{
    const char *column = which == ROW_RUN ? "run_id" : "earlier_run_id";
    if (which != ROW_RUN && !grid_has(g, column))
        return NULL;
    if (!grid_has(g, "platform") || !(grid_has(g, "workload") || grid_has(g, "run_id")))
        return NULL;
    if (!grid_has(g, "workload"))
        return run_of(s, g, row, "path", (const char *const[]){"platform", "run_id", NULL});
    AUTO_FREE char *run =
        grid_has(g, column) ? xstrdup(grid_text(g, row, column))
                            : run_of(s, g, row, "run_id",
                                     (const char *const[]){"platform", "workload", "label", NULL});
    return run ? xstrfmt("%s/%s/%s/%s", s->raw, grid_text(g, row, "platform"),
                         grid_text(g, row, "workload"), run)
               : NULL;
}

int sql_use(struct paper_tables *s, const struct sql_parts *p, const struct grid **out)
{
    AUTO_FREE char *name = xstrfmt("%.*s", (int)p->table_len, p->table);
    int code = paper_tables_find(s, name, out);
    s->reading = *out;
    return code;
}
