/* SPDX-License-Identifier: Apache-2.0
 *
 * The table that nccl-tests prints: its columns, and its rows.
 */
#pragma once

#include "import/import_words.h"

#define TABLE_COLUMNS 48

enum column {
    COL_SIZE,
    COL_COUNT,
    COL_TYPE,
    COL_OP,
    COL_ROOT,
    COL_TIME,
    COL_CPUTIME,
    COL_ALGBW,
    COL_BUSBW,
    COL_WRONG,
    COL_ERROR,
    COL_ITERATION,
    COL_TIMESTAMP
};

struct table {
    struct {
        enum column is;
        int in_place;
    } columns[TABLE_COLUMNS];
    size_t n;
    size_t side;           /* number of out-of-place columns */
    bool cpu_time, errors; /* it has the host's time; it has the largest error instead of #wrong */
};

struct row {
    int64_t size_B, count, root; /* root -1: none */
    struct word type, op;        /* op.n 0: none */
    struct {
        bool there;
        struct word time, algbw, busbw, wrong;
    } side[2]; /* 0: out of place, 1: in place */
};

/* Reads a header of columns, without its '#'; false: the line is not one. */
bool table_header(struct table *t, const char *s);
/* Does the line look like a row: two integers and a type? */
bool table_claims(const char *line);
/* ROW_SHORT: fields are missing. ROW_ODD: the fields do not fit the header. */
enum row_kind { ROW_WHOLE, ROW_SHORT, ROW_ODD };
enum row_kind table_row(const struct table *t, const char *line, struct row *out);
