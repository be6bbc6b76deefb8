/* SPDX-License-Identifier: Apache-2.0 */
#include "store/export.h"

#include "base/csv.h"
#include "base/err.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

/* ---- a query ---- */

static void export_row(void *ctx, sqlite3_stmt *st)
{
    struct csv *out = ctx;
    for (int i = 0, n = sqlite3_column_count(st); i < n; i++)
        if (sqlite3_column_type(st, i) == SQLITE_FLOAT)
            csv_real(out, sqlite3_column_double(st, i));
        else
            csv_text(out, store_text(st, i));
    csv_end(out);
}

int store_export(struct store *s, const char *sql, const char *columns, const char *path)
{
    struct csv out;
    int code = csv_open(&out, path);
    if (code)
        return code;
    csv_params_header(&out, columns);
    code = store_each(s, sql, export_row, &out);
    int closed = csv_close(&out, !code);
    return code ? code : closed;
}

/* exact(TIME_NS, ITERS, DIGITS): 10^-DIGITS seconds, exact to a femtosecond. */
static void sql_exact(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    char buf[CSV_DECIMAL];
    csv_decimal(buf, (uint64_t)sqlite3_value_int64(v[0]), (uint64_t)sqlite3_value_int64(v[1]),
                sqlite3_value_int(v[2]));
    sqlite3_result_text(c, buf, -1, SQLITE_TRANSIENT);
}

/* ---- samples ---- */

const char samples_columns[] =
    "run_id,launch,block,cell_id,platform,workload,config,mode,copy,ranks,nodes,size_B,sample,"
    "time_s";

/* place: the number of a group in the plan. several: groups of the run have steps. */
#define SAMPLES_OF                                                                                 \
    " FROM (SELECT run, grp, row_number() OVER (PARTITION BY run ORDER BY min(rowid)) AS place"    \
    "  FROM main.cell GROUP BY run, grp)"                                                          \
    " JOIN main.block USING (run, grp) JOIN main.sample USING (run, seq)"                          \
    " JOIN main.cell AS c USING (run, cell_id) JOIN main.run USING (run)"                          \
    " JOIN main.stamp USING (run)"                                                                 \
    " LEFT JOIN (SELECT run, count(DISTINCT grp) > 1 AS several FROM main.cell"                    \
    "  WHERE mode = 'overlapped' GROUP BY run) USING (run) WHERE counts"

/* ---- classic files ---- */

struct classic {
    const char *dir;
    struct csv file; /* of one config's times */
    sqlite3_int64 cell;
    int code;
};

static char *classic_path(const struct classic *c, sqlite3_stmt *st, const char *name)
{
    return xstrfmt("%s/classic/%s/%s/%s/%s", c->dir, store_text(st, 0), store_text(st, 1),
                   store_text(st, 2), name);
}

static void put_nccl_tests(void *ctx, sqlite3_stmt *st)
{
    struct classic *c = ctx;
    AUTO_FREE char *path = classic_path(c, st, "allreduce.txt");
    if (!c->code)
        c->code = csv_write_file(path, store_text(st, 3));
}

static void begin_times(struct classic *c, sqlite3_stmt *st)
{
    char suffix[24] = "";
    if (sqlite3_column_int(st, 5))
        snprintf(suffix, sizeof suffix, ".%d", sqlite3_column_int(st, 6));
    AUTO_FREE char *config = xstrdup(store_text(st, 4));
    for (char *s = config; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("._+=-", *s))
            *s = '-';
    AUTO_FREE char *name = xstrfmt("iteration_times_%s%s.txt", config, suffix);
    AUTO_FREE char *path = classic_path(c, st, name);
    c->code = csv_close(&c->file, true);
    if (!c->code)
        c->code = csv_open(&c->file, path);
}

static void put_time(void *ctx, sqlite3_stmt *st)
{
    struct classic *c = ctx;
    sqlite3_int64 cell = sqlite3_column_int64(st, 3);
    if (!c->code && cell != c->cell)
        begin_times(c, st);
    c->cell = cell;
    if (c->code)
        return;
    csv_text(&c->file, store_text(st, 7));
    csv_end(&c->file);
}

static int write_classic(struct store *s, const char *dir)
{
    struct classic c = {.dir = dir, .file.fd = -1, .cell = -1};
    int code = store_each(s,
                          "SELECT platform, workload, run_id, text FROM nccl_tests"
                          " JOIN main.run USING (run)",
                          put_nccl_tests, &c);
    if (!code && !c.code)
        code = store_each(s,
                          "SELECT platform, workload, run_id, c.rowid, config, several, place,"
                          " exact(time_ns, iters, 3)" SAMPLES_OF
                          " AND copy = 0 AND mode = 'overlapped'"
                          " ORDER BY run, place, c.rowid, launch, seq, sample",
                          put_time, &c);
    code = code ? code : c.code;
    int closed = csv_close(&c.file, !code);
    return code ? code : closed;
}

/* ---- all tables ---- */

static int fill(struct store *s, struct csv *files)
{
    int code = store_each(s,
                          "SELECT run_id, launch, block, cell_id, platform, workload, config, "
                          "mode, copy, ranks, nodes,"
                          " size_B, sample, exact(time_ns, iters, 0)" SAMPLES_OF
                          " ORDER BY sort, place, launch, seq, sample",
                          export_row, &files[DERIVED]);
    for (int i = 0; i < DERIVED && !code; i++) {
        AUTO_FREE char *sql = xstrfmt("SELECT %s FROM main.\"%s\" AS t JOIN main.stamp USING (run)"
                                      " ORDER BY sort, t.rowid",
                                      store_derived[i].columns, store_derived[i].name);
        code = store_each(s, sql, export_row, &files[i]);
    }
    return code;
}

int store_export_all(struct store *s, const char *dir)
{
    struct csv files[DERIVED + 1] = {0}; /* the last: of the samples */
    int code = GS_OK;
    if (sqlite3_create_function(s->db, "exact", 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                sql_exact, NULL, NULL))
        return store_failed(s);
    for (int i = DERIVED; i >= 0 && !code; i--) {
        AUTO_FREE char *path =
            xstrfmt("%s/%s.csv", dir, i < DERIVED ? store_derived[i].name : "samples");
        code = csv_open(&files[i], path);
        if (!code)
            csv_params_header(&files[i], i < DERIVED ? store_derived[i].columns : samples_columns);
    }
    if (!code)
        code = fill(s, files);
    if (!code)
        code = write_classic(s, dir);
    for (int i = DERIVED; i >= 0 && !code; i--) /* all are whole before one is renamed */
        code = csv_finish(&files[i]);
    for (int i = DERIVED; i >= 0; i--) {
        int one = csv_close(&files[i], !code);
        code = code ? code : one;
    }
    return code;
}
