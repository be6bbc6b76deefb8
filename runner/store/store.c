/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store.h"

#include "base/csv.h"
#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "base/version.h"
#include "compare/verdicts.h"
#include "reduce/summary.h"
#include "reduce/wan_table.h"
#include "store/column_words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APPLICATION 0x67736462 /* "gsdb" */
#define SCHEMA 5
#define WAIT_MS 120000 /* for another writer: a run takes it less than a second */

/* ---- tables ---- */

const struct store_table store_tables[] = {
    {"run",
     "run,run_id,dir,platform,workload,label,ranks,nodes,launches,seed,gradsync,git_commit,plugin,"
     "started,complete,imported,config_text,command",
     "run", NULL},
    {"host", "run,launch,attempt,rank,host,cpu,cores,kernel,memory_B,gpu,uuid,driver,cuda",
     "rank of a launch", NULL},
    {"cell", "run,cell_id,grp,place,config,mode,size_B,busbw_factor,params,ran", "cell of a run",
     NULL},
    {"param", "run,cell_id,key,value", "parameter of a cell", NULL},
    {"grp", "run,launch,attempt,grp,blocks", "group that a launch measured to its end", NULL},
    {"block",
     "run,seq,launch,attempt,grp,cell_id,copy,block,at,iters,skew_ns,spread_ns,counts,"
     "metrics_json,times_json",
     "block of samples", NULL},
    {"note", "run,launch,attempt,cell_id,copy,key,value", "note of a launch", NULL},
    {"health",
     "run,launch,attempt,grp,block,moment,rank,load1,busy_cores,own_cores,sm_Hz,power_W,"
     "temperature_C,throttle",
     "rank, before and after each block", NULL},
    {"fail", "run,launch,attempt,cell_id,copy,kind,reason,rank,host,phase", "failure", NULL},
    {"block_metric", "run,seq,metric,value", "metric of a block, other than its time",
     "SELECT run, seq, key AS metric, CAST(value AS REAL) AS value"
     " FROM block, json_each(metrics_json)"},
    {"sample", "run,seq,sample,time_ns", "sample",
     "SELECT run, seq, key + 1 AS sample, value AS time_ns FROM block, json_each(times_json)"},
    {"standing", "run",
     "platform, workload, label and job: the latest complete run that measured something, or the "
     "latest run if there is none",
     "SELECT run FROM (SELECT run, row_number() OVER (PARTITION BY section ORDER BY rank DESC)"
     " AS place FROM stamp) WHERE place = 1"},
    {0},
};

const char transitions_columns[] =
    "platform,workload,label,config,mode,params,ranks,nodes,kind,size_B,from_B,to_B,change,agree,"
    "replicates,verdict,reason";
const char limits_columns[] =
    "platform,kind,claim,source,quantity,value,unit,limit,limit_source,fraction,physics,verdict";

const char again_columns[] = COMPARE_COLUMNS
    ",earlier_run_id,earlier_launches,earlier_ratio,earlier_ratio_low,earlier_ratio_high,"
    "earlier_verdict,agreement,overlap";

const struct store_table store_joint[JOINT] = {
    [AGAIN] = {"again", again_columns, NULL, NULL},
    [TRANSITIONS] = {"transitions", transitions_columns, NULL, NULL},
    [LIMITS] = {"limits", limits_columns, NULL, NULL},
};

const struct store_table store_derived[DERIVED] = {
    [SUMMARY] = {"summary", summary_columns, NULL, NULL},
    [ITERATION] = {"iteration", iteration_columns, NULL, NULL},
    [METRICS] = {"metrics", metrics_columns, NULL, NULL},
    [LAUNCHES] = {"launches", launches_columns, NULL, NULL},
    [WAN] = {"wan", wan_columns, NULL, NULL},
    [COMPARE] = {"compare", compare_columns, NULL, NULL},
    [CHOSEN] = {"chosen", compare_columns, NULL, NULL},
    [PLACEBO] = {"placebo", placebo_columns, NULL, NULL},
};

static const char extras[] = "CREATE TABLE stamp (run INTEGER PRIMARY KEY, dir TEXT UNIQUE, sort "
                             "TEXT, section TEXT, rank TEXT,"
                             " stamp TEXT);"
                             "CREATE INDEX by_cell ON block (run, cell_id);"
                             "CREATE INDEX by_id ON cell (run, cell_id);"
                             "CREATE INDEX by_param ON param (run, cell_id);";

static void add_create(struct text *t, const char *kind, const char *table, const char *columns,
                       const char *key)
{
    AUTO_WORDS struct words names = {0};
    words_split(&names, columns, ',');
    text_addf(t, "CREATE %s \"%s\" (", kind, table);
    for (size_t i = 0; i < names.n; i++)
        text_addf(t, "%s\"%s\" %s", i ? ", " : "", names.v[i], column_sql_type(table, names.v[i]));
    text_addf(t, "%s;", key);
}

static char *schema(void)
{
    static const char delete[] = "DELETE FROM %s WHERE run = old.run;";
    struct text t = {0};
    AUTO_TEXT struct text forget = {0};
    for (size_t i = 0; store_tables[i].name; i++) {
        const struct store_table *table = &store_tables[i];
        if (table->view) {
            text_addf(&t, "CREATE VIEW %s AS %s;", table->name, table->view);
            continue;
        }
        add_create(&t, "TABLE", table->name, table->columns,
                   !strcmp(table->name, "run")     ? ", PRIMARY KEY (run))"
                   : !strcmp(table->name, "block") ? ", PRIMARY KEY (run, seq)) WITHOUT ROWID"
                                                   : ")");
        text_addf(&forget, delete, table->name);
    }
    for (size_t i = 0; i < DERIVED; i++) {
        AUTO_FREE char *columns = xstrfmt("run,%s", store_derived[i].columns);
        add_create(&t, "TABLE", store_derived[i].name, columns, ")");
        text_addf(&forget, delete, store_derived[i].name);
    }
    AUTO_TEXT struct text joint = {0};
    for (size_t i = 0; i < JOINT; i++) {
        add_create(&t, "TABLE", store_joint[i].name, store_joint[i].columns, ")");
        text_addf(&joint, "DELETE FROM %s;", store_joint[i].name);
    }
    text_add(&t, extras);
    text_addf(&t, "CREATE TRIGGER forget DELETE ON stamp BEGIN %s %s END;", forget.s, joint.s);
    text_addf(&t, "CREATE TRIGGER added INSERT ON stamp BEGIN %s END;", joint.s);
    return t.s;
}

/* ---- errors ---- */

int store_failed(struct store *s)
{
    s->failed = true;
    const char *path = *s->path ? s->path : "the database in memory";
    switch (sqlite3_errcode(s->db) & 0xff) {
    case SQLITE_INTERRUPT: /* whoever sets a time limit says so */
        return GS_FAILED;
    case SQLITE_FULL:
        return fail_at(GS_FAILED, path, 0, "cannot be written: no space left on the disk");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return fail_at(GS_FAILED, path, 0,
                       "is in use by another program; repeat when it has ended");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return fail_at(GS_FAILED, path, 0, "damaged; remove it: it is built again from data/raw");
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        return fail_at(GS_FAILED, path, 0, "cannot be read or written: %s", sqlite3_errmsg(s->db));
    default:
        return fail(GS_USAGE, "query: %s", sqlite3_errmsg(s->db));
    }
}

int store_execute(struct store *s, const char *sql)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) ? store_failed(s) : GS_OK;
}

sqlite3_stmt *store_prepare(struct store *s, const char *sql)
{
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL))
        store_failed(s);
    return st;
}

int store_each(struct store *s, const char *sql, void (*row)(void *ctx, sqlite3_stmt *st),
               void *ctx)
{
    sqlite3_stmt *st = store_prepare(s, sql);
    int step = SQLITE_DONE;
    if (!st)
        return GS_FAILED;
    while ((step = sqlite3_step(st)) == SQLITE_ROW)
        row(ctx, st);
    int code = step == SQLITE_DONE ? GS_OK : store_failed(s);
    sqlite3_finalize(st);
    return code;
}

const char *store_text(sqlite3_stmt *st, int column)
{
    const char *text = (const char *)sqlite3_column_text(st, column);
    return text ? text : "";
}

double store_real(sqlite3_stmt *st, int column)
{
    return sqlite3_column_type(st, column) == SQLITE_NULL ? (double)NAN
                                                          : sqlite3_column_double(st, column);
}

static void take_text(void *ctx, sqlite3_stmt *st)
{
    words_add(ctx, store_text(st, 0));
}

int store_texts(struct store *s, const char *sql, struct words *texts)
{
    return store_each(s, sql, take_text, texts);
}

/* ---- opening ---- */

enum state { STATE_READY, STATE_EMPTY, STATE_OTHER, STATE_FOREIGN, STATE_BROKEN };

static int number_of(sqlite3 *db, const char *sql, int otherwise)
{
    sqlite3_stmt *st = NULL;
    int value = otherwise;
    if (!sqlite3_prepare_v2(db, sql, -1, &st, NULL) && sqlite3_step(st) == SQLITE_ROW)
        value = sqlite3_column_int(st, 0);
    sqlite3_finalize(st);
    return value;
}

/* wanted: the number of tables, views, indices and triggers. */
static enum state state_of(const struct store *s, int version, int wanted)
{
    /* The tables first: another process may make them, with the id, between the two. */
    int tables = number_of(s->db, "SELECT count(*) FROM sqlite_schema", -1);
    int application = number_of(s->db, "PRAGMA application_id", -1);
    int code = sqlite3_errcode(s->db) & 0xff;
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        return STATE_BROKEN;
    if (!application && !tables)
        return STATE_EMPTY;
    if (application != APPLICATION)
        return STATE_FOREIGN;
    if (number_of(s->db, "PRAGMA user_version", -1) != version)
        return STATE_OTHER;
    return number_of(s->db, "SELECT count(*) FROM sqlite_schema WHERE sql IS NOT NULL", -1) ==
                   wanted
               ? STATE_READY
               : STATE_BROKEN;
}

static int create(struct store *s, const char *tables, int version)
{
    AUTO_FREE char *sql =
        xstrfmt("BEGIN IMMEDIATE; PRAGMA application_id = %d; PRAGMA user_version = %d; %s COMMIT",
                APPLICATION, version, tables);
    if (!sqlite3_exec(s->db, sql, NULL, NULL, NULL))
        return GS_OK;
    bool raced = sqlite3_errcode(s->db) == SQLITE_ERROR; /* another process made it meanwhile */
    int code = raced && !sqlite3_get_autocommit(s->db) ? GS_OK : store_failed(s);
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return code;
}

static bool connect_to(struct store *s)
{
    sqlite3_close(s->db);
    s->db = NULL;
    /* A connection is used by one thread: SQLite needs no lock for it, nor for counting memory. */
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (sqlite3_open_v2(*s->path ? s->path : ":memory:", &s->db, flags, NULL))
        return false;
    sqlite3_busy_timeout(s->db, WAIT_MS);
    sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0); /* a query reads and writes no other file */
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DQS_DML, 0,
                      NULL); /* "word" is a column, never a text */
    sqlite3_exec(s->db,
                 "PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536",
                 NULL, NULL, NULL);
    return true;
}

static int open_in_memory(struct store *s, const char *tables, int version, const char *why)
{
    if (why)
        say("%s: cannot be written (%s): the recordings are read into memory", s->path, why);
    xstrset(&s->path, "");
    return connect_to(s) ? create(s, tables, version) : store_failed(s);
}

int store_open(struct store *s, const char *path)
{
    AUTO_FREE char *tables = schema(), *all = xstrfmt("%d %s %s", SCHEMA, GRADSYNC_VERSION, tables);
    uint32_t hash =
        2166136261u; /* of the schema and of gradsync's version: another is built anew */
    for (const char *c = all; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    int version = (int)(hash & 0x7fffffff), wanted = 0;
    for (const char *c = tables; (c = strstr(c, "CREATE ")); c++)
        wanted++;
    *s = (struct store){.path = xstrdup(path ? path : "")};
    if (!path)
        return open_in_memory(s, tables, version, NULL);
    free(files_make_above(path));
    if (!connect_to(s) || sqlite3_db_readonly(s->db, "main") == 1)
        return open_in_memory(s, tables, version, strerror(access(path, W_OK) ? errno : EROFS));
    enum state state = state_of(s, version, wanted);
    if (state == STATE_FOREIGN)
        return fail_at(GS_USAGE, path, 0,
                       "is a database of another program; move it to another place");
    if (state == STATE_BROKEN || state == STATE_OTHER) {
        say("%s: %s; it is built again from the recordings", path,
            state == STATE_OTHER ? "of another version" : "damaged");
        static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
        for (size_t i = 0; i < COUNT(ends); i++) {
            AUTO_FREE char *file = xstrfmt("%s%s", path, ends[i]);
            unlink(file);
        }
        if (!connect_to(s))
            return store_failed(s);
    }
    sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    return state == STATE_READY ? GS_OK : create(s, tables, version);
}

void store_close(struct store *s)
{
    sqlite3_close(s->db);
    free(s->path);
    words_free(&s->damaged);
    *s = (struct store){0};
}

int store_finish(struct store *s, int code)
{
    code = code ? code : s->damaged.n ? GS_FAILED : GS_OK;
    store_close(s);
    return code;
}

/* ---- rows ---- */

struct store_rows {
    struct store *store;
    sqlite3_stmt *st;
    struct csv_sink sink;
    bool *texts; /* of each column: an empty text is a text, and not NULL */
    bool rounds;
    int columns, at, code;
};

static void put_text(void *ctx, const char *text)
{
    struct store_rows *r = ctx;
    int i = r->at++;
    if (i < r->columns && (*text || r->texts[i]))
        sqlite3_bind_text(r->st, i + 1, text, -1, SQLITE_TRANSIENT);
}

static void put_integer(void *ctx, int64_t v)
{
    struct store_rows *r = ctx;
    sqlite3_bind_int64(r->st, ++r->at, v);
}

static void put_real(void *ctx, double v)
{
    struct store_rows *r = ctx;
    int i = r->at++;
    char digits[32];
    if (!isfinite(v))
        return;
    if (r->rounds)
        snprintf(digits, sizeof digits, "%.12g", v);
    sqlite3_bind_double(r->st, i + 1, r->rounds ? strtod(digits, NULL) : v);
}

static void end_row(void *ctx)
{
    struct store_rows *r = ctx;
    const char *insert = sqlite3_sql(r->st); /* a fault of the program, not of a recording */
    if (!r->code && r->at != r->columns)
        r->code = fail(GS_FAILED, "%.*s: %d columns, and a row of %d values",
                       (int)strcspn(insert, "("), insert, r->columns, r->at);
    if (!r->code && sqlite3_step(r->st) != SQLITE_DONE)
        r->code = store_failed(r->store);
    sqlite3_reset(r->st);
    sqlite3_clear_bindings(r->st);
    r->at = 0;
}

struct store_rows *store_rows_begin(struct store *s, const char *table, const char *columns,
                                    bool rounds, struct csv *out)
{
    struct store_rows *r = xcalloc(1, sizeof *r);
    AUTO_WORDS struct words names = {0};
    AUTO_TEXT struct text insert = {0};
    words_split(&names, columns, ',');
    *r = (struct store_rows){.store = s, .rounds = rounds, .columns = (int)names.n};
    r->texts = xcalloc(names.n, sizeof *r->texts);
    text_addf(&insert, "INSERT INTO \"%s\" (", table);
    for (size_t i = 0; i < names.n; i++) {
        text_addf(&insert, "%s\"%s\"", i ? ", " : "", names.v[i]);
        r->texts[i] = !strcmp(column_sql_type(table, names.v[i]), "TEXT");
    }
    text_add(&insert, ") VALUES (");
    for (size_t i = 0; i < names.n; i++)
        text_add(&insert, i ? ", ?" : "?");
    text_add(&insert, ")");
    r->st = store_prepare(s, insert.s);
    r->code = r->st ? GS_OK : GS_FAILED;
    r->sink = (struct csv_sink){put_text, put_integer, put_real, end_row, r};
    *out = (struct csv){.sink = &r->sink};
    return r;
}

int store_rows_end(struct store_rows *r)
{
    int code = r->code;
    sqlite3_finalize(r->st);
    free(r->texts);
    free(r);
    return code;
}

int store_make(struct store *s, const char *table, const char *columns)
{
    AUTO_TEXT struct text t = {0};
    text_addf(&t, "DROP TABLE IF EXISTS temp.\"%s\";", table);
    add_create(&t, "TEMP TABLE", table, columns, ")");
    return store_execute(s, t.s);
}

/* ---- files ---- */

/* A table of an older version lacks columns: they are NULL. */
static char *with_older(const char *table, const struct words *names)
{
    AUTO_WORDS struct words columns = {0};
    struct text t = {0};
    for (size_t i = 0; i < DERIVED; i++)
        if (!strcmp(store_derived[i].name, table))
            words_split(&columns, store_derived[i].columns, ',');
    for (size_t i = 0; i < names->n; i++)
        text_addf(&t, "%s%s", i ? "," : "", names->v[i]);
    for (size_t i = 0; i < columns.n; i++)
        if (!words_has(names, columns.v[i]))
            text_addf(&t, ",%s", columns.v[i]);
    return t.s;
}

/* A row with another text where a number belongs would carry it into what is made of the table. */
static int import_row(struct store_rows *sink, struct csv *rows, const struct csv_reader *r)
{
    for (size_t i = 0; i < r->header.n; i++) {
        const char *value = r->row.v[i];
        char *end;
        bool number =
            isfinite(strtod(value, &end)) && !*end && !value[strspn(value, "+-.0123456789eE")];
        if (*value && !sink->texts[i] && !number)
            return fail_at(GS_FAILED, r->path, (int)r->number,
                           "%s: '%.40s' must be a number; make the tables again", r->header.v[i],
                           value);
        csv_text(rows, value);
    }
    csv_end(rows);
    return GS_OK;
}

static int import(struct store *s, const char *path, const char *name)
{
    AUTO_TEXT struct text there = {0};
    AUTO(csv_read_close) struct csv_reader r = {0};
    struct csv rows;
    bool got = true;
    CHECK(csv_read_open(&r, path));
    for (size_t i = 0; i < r.header.n; i++)
        text_addf(&there, "%s%s", i ? "," : "", r.header.v[i]);
    AUTO_FREE char *all = with_older(name, &r.header);
    CHECK(store_make(s, name, all));
    struct store_rows *sink = store_rows_begin(s, name, there.s, false, &rows);
    int code = GS_OK;
    while (!code && !(code = csv_read_row(&r, &got)) && got)
        code = import_row(sink, &rows, &r);
    int ended = store_rows_end(sink);
    return code ? code : ended;
}

int store_add_file(struct store *s, const char *path)
{
    const char *is = strchr(path, '=');
    AUTO_FREE char *name = is ? xstrfmt("%.*s", (int)(is - path), path) : xstrdup(path_name(path));
    path = is ? is + 1 : path;
    name[strcspn(name, ".")] = '\0';
    if (!text_ends(path, ".sql"))
        return import(s, path, name);
    AUTO_TEXT struct text query = {0};
    if (!files_read(path, FILES_ANY, FILES_WHOLE_MAX, &query))
        return fail_at(GS_USAGE, path, 0, "%s", files_why(errno));
    AUTO_FREE char *view = xstrfmt("CREATE TEMP VIEW \"%s\" AS %s", name, query.s);
    return store_execute(s, view);
}
