/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables behind the numbers, each read on first use: data/csv/NAME.csv, and three
 * tables from other sources. If several runs measured the same cell, only the rows of one run count;
 * STORE_STANDS is the rule that chooses it.
 *
 *   runs      one row for each run folder: platform, machine, versions, from the headers of its
 *             recordings
 *   settings  one row for each key of the fixed sections: its default
 *   asked     one row for each config and such a key: its value there, and its file and line
 *
 * A grid is such a table in memory, with the line number of every row.
 *
 * Queries read the tables in a store in memory, with three additions: `line` is the line of the row in its
 * file, every key of the column `params` is a column of its own, and an empty field is NULL. A column of numbers is REAL.
 */
#pragma once

#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>

/* ROW_REPLACED: the row of another run counts for the same cell. */
enum row_judged { ROW_REPLACED = -3, ROW_SKIPPED, ROW_GOOD, ROW_UNJUDGED };

struct grid {
    char *name, *path;
    struct words columns, fields; /* fields: row after row */
    long *lines;                  /* of each row */
    size_t n;                     /* rows */
    int *judged; /* for each row, one of enum row_judged, or the index of its gap plus 1
                    (evidence.h); NULL: rows that are traced by their lines */
};

/* Some rows of a grid. */
struct chosen {
    size_t *rows;
    size_t n;
};
void chosen_free(struct chosen *c);

/* GS_OK, or reported: there is no such file, or a row has another number of fields. The caller frees it in
 * both cases. */
int grid_read(struct grid **out, const char *name, const char *path);
/* The table `runs` of the recordings below `raw`; all: those too that have no block yet. The same. */
int grid_runs(struct grid **out, const char *raw, bool all);
void grid_free(struct grid *g);
AUTO_POINTER(struct grid, grid_free)

/* The column's value, or "". */
const char *grid_text(const struct grid *g, size_t row, const char *column);
const char *grid_field(const struct grid *g, size_t row, size_t column);
bool grid_has(const struct grid *g, const char *column);

struct paper_tables {
    const char *csv, *raw, *configs; /* folders; the caller owns the texts */
    struct grid **v;
    size_t n;
    struct store store; /* in memory, with the tables above */
    sqlite3_stmt *add_number;
    const struct grid *reading; /* the table that a query reads; NULL: none */
    bool refused;               /* a query sees refused rows too (publish/evidence.h) */
    char *run;                  /* whose progress is known */
    int progress;
};

/* Owned by the tables. GS_OK, or reported: a table that is not there, with the nearest name. */
int paper_tables_find(struct paper_tables *s, const char *name, const struct grid **out);
void paper_tables_free(struct paper_tables *s);

/* Reports that the table's file is not there, with the nearest name; GS_USAGE. */
int paper_tables_no_table(const struct paper_tables *s, const char *name, const char *path);

/* A row of again.csv belongs to two runs, any other row to one or none. */
enum row_run { ROW_RUN, ROW_EARLIER_RUN, ROW_RUNS };

/* The folder of a run of this row; the caller frees it. NULL: there is none. A row with a platform and
 * workload but no run, as in transitions.csv, belongs to the run that counts for that section. */
char *paper_tables_run(struct paper_tables *s, const struct grid *g, size_t row,
                       enum row_run which);

/* The cells of a result, row after row: a number as the digits that give it back, NULL as "". */
struct sql_result {
    struct words cells;
    size_t columns, rows;
    char *name; /* of the first column */
};
double sql_number(const char *cell); /* NaN: it is none */

/* Where a query was written, for messages. */
struct sql_source {
    const char *file;
    int line;
};

/* "SELECT EXPRESSIONS FROM TABLE REST": its parts, inside the text. */
struct sql_parts {
    const char *from;  /* "FROM …"; NULL: it reads no table */
    const char *order; /* "ORDER BY …" or "LIMIT …"; or its end */
    const char *table; /* the name, without quotes */
    size_t table_len;
    bool distinct, count, limit; /* SELECT DISTINCT, SELECT count(…), LIMIT */
};
/* GS_OK, or reported: not a SELECT, or more than one table. */
int sql_split(struct sql_parts *p, const char *query, struct sql_source at);

/* Loads the table unless it is loaded, and reads it from now on. GS_OK or reported. */
int sql_use(struct paper_tables *s, const struct sql_parts *p, const struct grid **out);
/* GS_OK, or reported with the source. sql_result_free in both cases. */
int sql_run(struct paper_tables *s, struct sql_result *r, const char *query, struct sql_source at);
void sql_result_free(struct sql_result *r);
/* The table `numbers` (name, plain, value), for queries of other numbers: empty, and row by row. */
int sql_clear_numbers(struct paper_tables *s);
int sql_add_number(struct paper_tables *s, size_t row, const char *name, const char *plain,
                   double value);
