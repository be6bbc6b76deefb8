/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes CSV tables to a temporary file that is renamed when complete. csv_close reports a write
 * that failed.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    int fd;    /* -1: not open */
    int error; /* errno of the first write that failed */
    bool in_row;
    int (*last_pass)(struct csv *); /* rewrites the complete file; a code, reported. NULL: none */
    size_t n;
    char *buf;
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
void csv_header(struct csv *c, const char *columns); /* "a,b,c" */

/* Writes a whole file of this text, of any format. GS_OK or GS_FAILED, reported. */
int csv_write_file(const char *path, const char *text);

/* Adds bytes unchanged. */
void csv_bytes(struct csv *c, const char *s, size_t n);

/* Writes time_ns / iters as a decimal in units of 10^-digits seconds, rounded to a femtosecond,
 * without trailing zeros. iters is at most INT32_MAX. */
#define CSV_DECIMAL 48
void csv_decimal(char buf[CSV_DECIMAL], uint64_t time_ns, uint64_t iters, int digits);
