/* SPDX-License-Identifier: Apache-2.0
 *
 * The derived tables read back: a row at a time, columns by name, fields as RFC 4180 quotes them.
 */
#ifndef GS_CSV_READ_H
#define GS_CSV_READ_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct csv_reader {
    const char *path; /* as given to csv_read_open, which must outlive this */
    FILE *file;
    char *line;
    size_t cap;
    long number;                  /* of the line read last */
    struct text fields;           /* of the row, each ended by a NUL */
    size_t *starts, n_starts;     /* where each begins in it */
    size_t n_header, *columns, n; /* of the file; of the caller's: the place of each in the row */
};

/* Reads the header line and finds the NULL-terminated `columns` in it. GS_OK, or GS_USAGE
 * (no such file, a column that it lacks), reported. */
int csv_read_open(struct csv_reader *r, const char *path, const char *const *columns);
/* The next row: *got is false past the last. GS_OK, or GS_FAILED, reported: the file cannot be
 * read, a quote is not closed, a row has more or fewer fields than the header. */
int csv_read_row(struct csv_reader *r, bool *got);
/* A field of the row by its place in `columns`; valid until the next row. */
const char *csv_read_text(const struct csv_reader *r, size_t column);
double csv_read_real(const struct csv_reader *r, size_t column); /* NaN when empty or no number */
int64_t csv_read_integer(const struct csv_reader *r, size_t column); /* 0 when empty */
void csv_read_close(struct csv_reader *r);

/* Every row of a file to take(ctx, …), in the order there; GS_OK or as above. */
int csv_read_each(const char *path, const char *const *columns,
                  void (*take)(void *ctx, const struct csv_reader *r), void *ctx);

#endif
