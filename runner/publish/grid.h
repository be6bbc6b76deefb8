/* SPDX-License-Identifier: Apache-2.0
 *
 * A table in memory, with the line number of every row. A key is the name of a column, "line", or a
 * key in the column `params` ("gemms" in "size=16MiB gemms=4").
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct grid_row {
    char **fields;
    long line;
};

enum row_judged { ROW_SKIPPED = -2, ROW_GOOD, ROW_UNJUDGED };

struct grid {
    char *name, *path;
    char **columns;
    size_t n_columns;
    struct grid_row *rows;
    size_t n;
    int *judged; /* for each row, one of enum row_judged, or the index of its gap plus 1
                    (admissibility.h); NULL: not judged */
};

/* Some rows of a grid. */
struct chosen {
    size_t *rows;
    size_t n;
};
void chosen_free(struct chosen *c);

struct grid *grid_new(const char *name, const char *path, const char *const *columns);
/* GS_OK, or reported: there is no such file, or a row has another number of fields. */
int grid_read(struct grid **out, const char *name, const char *path);
/* Copies one field for each column; NULL is "". */
void grid_add(struct grid *g, long line, const char *const *fields);
void grid_free(struct grid *g);

/* The value, in buf if it is not a whole field; NULL: neither a column nor a parameter. */
const char *grid_get(const struct grid *g, size_t row, const char *key, char *buf, size_t n);
/* The column's value, or "". */
const char *grid_text(const struct grid *g, size_t row, const char *column);
bool grid_has(const struct grid *g, const char *column);
/* Its index in `columns`; n_columns: no such column. */
size_t grid_column(const struct grid *g, const char *name);
double grid_real(const struct grid *g, size_t row, const char *column); /* NaN: none */

/* Progress of the run of a row. */
enum grid_run { GRID_RUN_EMPTY, GRID_RUN_PART, GRID_RUN_FINISHED };
/* If several runs have a row for the same cell, keeps one: that of the run with most progress, then
 * of the latest (names begin with the time). Does nothing without a column run_id. */
void grid_latest(struct grid *g, const enum grid_run *runs); /* of every row */
