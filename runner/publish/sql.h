/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables (paper_tables.h) in an in-memory SQLite database. Each is loaded when a query first
 * reads it, with three additions: `line` is the line of the row in its file, every key of the column
 * `params` is a column of its own, and an empty field is NULL. A column of numbers is REAL.
 */
#pragma once

#include "publish/paper_tables.h"

#include <sqlite3.h>

struct sql {
    sqlite3 *db; /* NULL until the first query */
    sqlite3_stmt *add_number;
    struct paper_tables *tables;
    const struct grid *grid; /* the table that is being read; NULL: none */
    bool refused;            /* show refused rows too (publish/admissibility.h) */
};

/* A value for ?1, ?2, …: the text, or where that is NULL the number (NaN: NULL). */
struct sql_value {
    char *text;
    double number;
};
struct sql_values {
    struct sql_value *v;
    size_t n;
};
void sql_add(struct sql_values *values, char *text, double number); /* takes the text over */
void sql_values_free(struct sql_values *values);

/* The cells of a result, row after row. A number has its text as well; NULL is "" and NaN. */
struct sql_result {
    struct sql_values cells;
    size_t columns, rows;
    char *name; /* of the first column */
};

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

/* Opens the database unless it is open. GS_OK or reported. */
int sql_open(struct sql *s);
int sql_execute(struct sql *s, const char *text); /* GS_OK or reported */
int sql_failed(const struct sql *s);              /* reports what SQLite says; GS_FAILED */

/* Loads the table unless it is loaded, and reads it from now on. GS_OK or reported. */
int sql_use(struct sql *s, const struct sql_parts *p, const struct grid **out);
/* GS_OK, or reported with the source. sql_result_free in both cases. */
int sql_run(struct sql *s, struct sql_result *r, const char *query, const struct sql_values *in,
            struct sql_source at);
void sql_result_free(struct sql_result *r);
/* The table `numbers` (name, plain, value), for queries of other numbers: empty, and row by row. */
int sql_clear_numbers(struct sql *s);
int sql_add_number(struct sql *s, size_t row, const char *name, const char *plain, double value);
void sql_close(struct sql *s);
