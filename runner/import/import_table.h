/* SPDX-License-Identifier: Apache-2.0
 *
 * nccl-tests' table: what its header line says the columns are, and rows by it.
 */
#ifndef GS_IMPORT_TABLE_H
#define GS_IMPORT_TABLE_H

#include "import/import_lines.h"

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
    size_t side;           /* columns of out-of-place alone */
    bool cpu_time, errors; /* has such a column: the host's time; the largest error, not #wrong */
};

struct row {
    int64_t size_B, count, root; /* root -1: none */
    struct word type, op;        /* op.n 0: none */
    struct {
        bool there;
        struct word time, algbw, busbw, wrong;
    } side[2]; /* out of place, in place */
};

/* Is the line, without its '#', a header of columns? Then *t is set; false else. */
bool table_header(struct table *t, const char *s);
/* Does the line look like a row: two integers and a type? */
bool table_claims(const char *line);
/* ROW_SHORT: a row that lacks fields; ROW_ODD: with others than the header's. */
enum row_kind { ROW_WHOLE, ROW_SHORT, ROW_ODD };
enum row_kind table_row(const struct table *t, const char *line, struct row *out);

#endif
