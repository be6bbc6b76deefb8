/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the derived tables row by row, with columns by name and RFC 4180 quotes. The columns of the
 * parameters are one column here, CSV_PARAMS, after the others (csv_params.h).
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CSV_PARAMS "params"  /* all parameters of a row, "size=8 gemms=4" (csv_params.h) */
#define CSV_PARAM "param_"   /* the beginning of the name of each column in a file */
#define CSV_PARAM_ANY "NAME" /* the end of it in a table without parameters */

struct csv_reader {
    const char *path; /* as given to csv_read_open, which must outlive this */
    FILE *file;
    char *line;
    size_t cap;
    long number;              /* of the last line */
    struct text fields;       /* of the row, each ended by a NUL */
    size_t *starts, n_starts; /* the start of each field */
    size_t n_header;          /* columns, with those of parameters as one */
    struct words params;      /* the keys of the columns of parameters */
    size_t *columns, n;       /* the caller's columns as positions in the row */
};

/* Reads the header line and finds the NULL-terminated `columns` in it. GS_OK, or GS_USAGE
 * (no such file or no such column), reported. */
int csv_read_open(struct csv_reader *r, const char *path, const char *const *columns);
/* Reads the next row; *got is false after the last. GS_OK, or GS_FAILED, reported: the file cannot
 * be read, a quote is not closed, or a row has more or fewer fields than the header. */
int csv_read_row(struct csv_reader *r, bool *got);
/* A field of the row by its index in `columns`; valid until the next row. */
const char *csv_read_text(const struct csv_reader *r, size_t column);
double csv_read_real(const struct csv_reader *r, size_t column); /* NaN if empty or not a number */
int64_t csv_read_integer(const struct csv_reader *r, size_t column); /* 0 if empty */
void csv_read_close(struct csv_reader *r);

/* Calls take(ctx, …) for every row of a file. Returns GS_OK or a code as above. */
int csv_read_each(const char *path, const char *const *columns,
                  void (*take)(void *ctx, const struct csv_reader *r), void *ctx);
