/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes and reads tables as CSV (RFC 4180), with the columns of parameters.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- writing ---- */

/* Writes CSV tables to a temporary file that is renamed when complete. csv_close reports a write
 * that failed. */

/* Takes the rows of a table in place of a file. */
struct csv_sink {
    void (*text)(void *ctx, const char *s);
    void (*integer)(void *ctx, int64_t v);
    void (*real)(void *ctx, double v);
    void (*end)(void *ctx);
    void *ctx;
};

struct csv {
    const struct csv_sink *sink; /* NULL: the rows go to a file */
    char *path, *temp;
    FILE *file; /* NULL: not open */
    char *buffer;
    int error; /* errno of the first write that failed */
    bool in_row;
    struct csv_spread *spread; /* rows that wait for the columns of parameters; NULL: none */
};

/* Makes the folders above path. GS_OK or GS_FAILED, reported. */
int csv_open(struct csv *c, const char *path);
/* Writes what is left, after the last row. GS_OK or GS_FAILED, reported. */
int csv_finish(struct csv *c);
/* Finishes and renames the file if `keep`, else removes it. GS_OK or GS_FAILED, reported. Does nothing
 * if the table was never opened. */
int csv_close(struct csv *c, bool keep);

/* Add a field to the row; csv_end ends the row. */
void csv_text(struct csv *c, const char *s); /* quoted if necessary (RFC 4180) */
void csv_integer(struct csv *c, int64_t v);
/* Twelve significant digits, more than any clock here has. Empty if not finite. */
void csv_real(struct csv *c, double v);
void csv_end(struct csv *c);
/* Several fields of one kind: CSV_REALS(c, low, high). */
#define CSV_TEXTS(c, ...) CSV_ARRAY(text, char *const, c, __VA_ARGS__)
#define CSV_INTEGERS(c, ...) CSV_ARRAY(integer, int64_t, c, __VA_ARGS__)
#define CSV_REALS(c, ...) CSV_ARRAY(real, double, c, __VA_ARGS__)
#define CSV_ARRAY(kind, type, c, ...)                                                              \
    csv_##kind##s(c, (const type[]){__VA_ARGS__},                                                  \
                  sizeof((const type[]){__VA_ARGS__}) / sizeof(type))
void csv_texts(struct csv *c, const char *const *fields, size_t n);
void csv_integers(struct csv *c, const int64_t *fields, size_t n);
void csv_reals(struct csv *c, const double *fields, size_t n);

/* Adds a text as csv_text would write it, without a comma. */
void csv_field(struct text *t, const char *s);
/* Adds bytes unchanged. */
void csv_bytes(struct csv *c, const char *s, size_t n);

/* Writes time_ns / iters as a decimal of seconds, rounded to a femtosecond, without trailing zeros. iters is at most INT32_MAX. */
#define CSV_DECIMAL 48
void csv_decimal(char buf[CSV_DECIMAL], uint64_t time_ns, uint64_t iters);

/* ---- reading ---- */

/* Reads the derived tables row by row, with RFC 4180 quotes. The columns of the parameters are one column
 * here, CSV_PARAMS, after the others. */

#define CSV_PARAMS "params"  /* all parameters of a row, "size=8 gemms=4" */
#define CSV_PARAM "param_"   /* the beginning of the name of each column in a file */
#define CSV_PARAM_ANY "NAME" /* the end of it in a table without parameters */

struct csv_reader {
    const char *path;   /* as given to csv_read_open, which must outlive this */
    struct text bytes;  /* the file */
    size_t at;          /* behind the last record */
    long lines, number; /* lines before `at`; the first line of the last record */
    struct words header,
        row;             /* the columns and the fields of the row, those of parameters as one */
    struct words params; /* the keys of the columns of parameters, which are the last */
};

/* Reads the header line. GS_OK, or GS_USAGE or GS_FAILED, reported. */
int csv_read_open(struct csv_reader *r, const char *path);
/* Reads the next row; *got is false after the last. GS_OK, or GS_FAILED, reported: the file cannot
 * be read, a quote is not closed, or a row has more or fewer fields than the header. */
int csv_read_row(struct csv_reader *r, bool *got);
void csv_read_close(struct csv_reader *r);

/* ---- parameters ---- */

/* Parameters in tables. In memory they are one text, "size=8 gemms=4", in the column CSV_PARAMS. In a
 * file each has a column, param_size and param_gemms, after all other columns. The reader reads them
 * as the text again. */

/* "a,b,c". If one is CSV_PARAMS, csv_finish replaces it by a column for each parameter with a value;
 * without any, by param_NAME, which is empty. */
void csv_header(struct csv *c, const char *columns);
