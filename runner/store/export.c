/* SPDX-License-Identifier: Apache-2.0 */
#include "store/export.h"

#include "base/csv.h"
#include "base/err.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
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

/* ---- samples ---- */

const char samples_columns[] =
    "run_id,launch,block,cell_id,platform,workload,config,mode,copy,ranks,nodes,size_B,sample,"
    "time_s";

/* The next time of a block, exact to a femtosecond, in units of 10^-digits seconds. False: no more. */
static bool next_time(const char **times_json, uint64_t iters, int digits, char buf[CSV_DECIMAL])
{
    char *end;
    *times_json = strpbrk(*times_json, "0123456789");
    if (!*times_json)
        return false;
    csv_decimal(buf, strtoull(*times_json, &end, 10), iters, digits);
    *times_json = end;
    return true;
}

/* By hand: printf would take half the time of a table with a row for each sample. */
static void put_number(struct text *t, size_t n)
{
    char buf[24], *s = buf + sizeof buf;
    do
        *--s = (char)('0' + n % 10);
    while (n /= 10);
    text_addn(t, s, (size_t)(buf + sizeof buf - s));
}

/* All rows of a block begin alike. */
static void put_samples(void *ctx, sqlite3_stmt *st)
{
    enum { COLUMNS = 12 };
    AUTO_TEXT struct text row = {0};
    char time[CSV_DECIMAL];
    for (int i = 0; i < COLUMNS; i++) {
        csv_field(&row, store_text(st, i));
        text_add(&row, ",");
    }
    uint64_t iters = (uint64_t)sqlite3_column_int64(st, COLUMNS);
    const char *times = store_text(st, COLUMNS + 1);
    for (size_t n = 1, head = row.len; next_time(&times, iters, 0, time); n++) {
        row.len = head;
        put_number(&row, n);
        text_add(&row, ",");
        text_add(&row, time);
        text_add(&row, "\n");
        csv_bytes(ctx, row.s, row.len);
    }
}

/* SQLite would read the blocks of a run once for each of its groups. */
#define BLOCKS_OF                                                                                  \
    " FROM main.stamp CROSS JOIN main.run USING (run) CROSS JOIN main.block USING (run)"           \
    " CROSS JOIN main.cell AS c USING (run, cell_id)"

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

static void put_times(void *ctx, sqlite3_stmt *st)
{
    struct classic *c = ctx;
    sqlite3_int64 cell = sqlite3_column_int64(st, 3);
    if (!c->code && cell != c->cell)
        begin_times(c, st);
    c->cell = cell;
    const char *times = store_text(st, 8);
    char time[CSV_DECIMAL];
    while (!c->code && next_time(&times, (uint64_t)sqlite3_column_int64(st, 7), 3, time)) {
        csv_text(&c->file, time);
        csv_end(&c->file);
    }
}

static int write_classic(struct store *s, const char *dir)
{
    struct classic c = {.dir = dir, .cell = -1};
    int code = store_each(s,
                          "SELECT platform, workload, run_id, text FROM nccl_tests"
                          " JOIN main.run USING (run)",
                          put_nccl_tests, &c);
    if (!code && !c.code)
        code = store_each(s,
                          "SELECT platform, workload, run_id, c.rowid, config,"
                          " several, place, iters, times_json" BLOCKS_OF
                          " JOIN (SELECT run, count(DISTINCT grp) > 1 AS several FROM main.cell"
                          "  WHERE mode = 'overlapped' GROUP BY run) USING (run)"
                          " WHERE counts AND copy = 0 AND mode = 'overlapped'"
                          " ORDER BY run, place, c.rowid, launch, seq",
                          put_times, &c);
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
                          " size_B, iters, times_json" BLOCKS_OF " WHERE counts"
                          " ORDER BY sort, place, launch, seq",
                          put_samples, &files[DERIVED]);
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
    for (int i = DERIVED; i >= 0 && !code; i--) {
        AUTO_FREE char *path =
            xstrfmt("%s/%s.csv", dir, i < DERIVED ? store_derived[i].name : "samples");
        code = csv_open(&files[i], path);
        if (!code)
            csv_params_header(&files[i], i < DERIVED ? store_derived[i].columns : samples_columns);
    }
    TRY(code, fill(s, files));
    TRY(code, write_classic(s, dir));
    for (int i = DERIVED; i >= 0 && !code; i--) /* all are whole before one is renamed */
        code = csv_finish(&files[i]);
    for (int i = DERIVED; i >= 0; i--) {
        int one = csv_close(&files[i], !code);
        code = code ? code : one;
    }
    return code;
}
