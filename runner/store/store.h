/* SPDX-License-Identifier: Apache-2.0
 *
 * The store: every recording below data/raw, verified, in one SQLite database. It holds nothing that
 * the recordings do not, so it is built anew whenever it cannot be used.
 *
 * store_tables[] hold the lines of the recordings, store_derived[] what is computed of them. `run` is the number of a run in this database and joins
 * them. The samples and metrics of a block are JSON texts of its row, which two views spread: a row for
 * each sample took ten times as long to write and to read.
 *
 * A run is read again when one of its files, the config of its platform or this program has changed.
 * A damaged run is reported, and none of it enters. Several processes may use the database at once.
 */
#pragma once

#include "base/csv.h"
#include "base/text.h"

#include <sqlite3.h>
#include <stdbool.h>

#define STORE_PATH "data/gradsync.db"

struct store_table {
    const char *name, *columns, *row; /* row: of what it has one */
    const char *view;                 /* the query that gives its rows; NULL: it holds them */
};
extern const struct store_table store_tables[]; /* the views last; ends with a NULL name */
/* What is computed of each run: exported as NAME.csv. The column `run` is before these. */
enum { SUMMARY, ITERATION, METRICS, LAUNCHES, WAN, COMPARE, CHOSEN, PLACEBO, DERIVED };
extern const struct store_table store_derived[DERIVED];
/* Tables that are computed from all runs together, and exported as NAME.csv. When a run changes they are emptied;
 * store_export_all fills them again. */
enum { AGAIN, TRANSITIONS, LIMITS, JOINT };
extern const struct store_table store_joint[JOINT];
extern const char again_columns[], transitions_columns[], limits_columns[];

struct store {
    sqlite3 *db;
    char *path;           /* "" for one in memory */
    bool failed;          /* SQLite reported an error */
    struct words damaged; /* run folders that store_read refused; each was reported */
};

/* path NULL: in memory. A database of another version, or one that is no whole database, is built
 * anew; where none can be written, the store is in memory and one line says so. GS_OK or reported;
 * store_close in both cases. */
int store_open(struct store *s, const char *path);
void store_close(struct store *s);
/* Closes it. The code, or GS_FAILED in place of GS_OK if recordings were damaged. */
int store_finish(struct store *s, int code);

/* Reads what is new below the roots, and forgets runs that are gone. GS_OK; GS_FAILED, reported: a
 * recording is damaged, and the others are there; GS_USAGE, reported: no such folder. */
int store_read(struct store *s, const char *const *roots, size_t n);
/* The store of all recordings, up to date: the usual way to open one. GS_OK, also if some recordings
 * are damaged; or reported. */
int store_open_all(struct store *s);
/* The same; where n is not 0: of the recordings below these roots, in memory. */
int store_open_roots(struct store *s, const char *const *roots, size_t n);

/* The rows of DIR/NAME.csv as the temporary table NAME, with all its columns; those of the query in
 * DIR/NAME.sql as the view NAME. "OTHER=DIR/NAME.csv" names it OTHER. */
int store_add_file(struct store *s, const char *path);

int store_execute(struct store *s, const char *sql); /* GS_OK or reported */
/* NULL: reported. The caller finalizes it. */
sqlite3_stmt *store_prepare(struct store *s, const char *sql);
/* Calls row() for each row of a query. GS_OK or reported. */
int store_each(struct store *s, const char *sql, void (*row)(void *ctx, sqlite3_stmt *st),
               void *ctx);
/* Adds the first column of each row. GS_OK or reported. */
int store_texts(struct store *s, const char *sql, struct words *texts);
int store_failed(struct store *s); /* reports what SQLite says */

/* The columns of a row: "" and NaN for NULL. */
const char *store_text(sqlite3_stmt *st, int column);
double store_real(sqlite3_stmt *st, int column);

/* Makes an empty temporary table of these columns, "a,b,c"; their types are those of column_words. */
int store_make(struct store *s, const char *table, const char *columns);
/* Begins rows of a table: what csv_text and its like write goes there. rounds: numbers are those of
 * its file, of twelve digits. store_rows_end ends them. */
struct store_rows;
struct store_rows *store_rows_begin(struct store *s, const char *table, const char *columns,
                                    bool rounds, struct csv *out);
int store_rows_end(struct store_rows *rows); /* GS_OK or reported */

/* ---- CSV files. A file is complete or as it was. ---- */

extern const char samples_columns[];

/* Writes all tables of the recordings into the folder: samples.csv, a row for each sample of a block
 * that counts, store_derived[] and store_joint[], ordered by platform, workload, label and run, then by the plan.
 * The same recordings give the same bytes. All of them are written, or none. GS_OK or reported. */
int store_export_all(struct store *s, const char *dir);
