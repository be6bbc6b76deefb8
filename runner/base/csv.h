/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables as text: written aside, renamed when whole, through one large buffer. Numbers are as in
 * the C locale whatever the locale is. A write that fails is kept and reported by csv_close.
 */
#ifndef GS_CSV_H
#define GS_CSV_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csv {
    char *path, *temp;
    int fd;    /* -1: not open */
    int error; /* errno of the first write that failed */
    bool in_row;
    uint64_t written;
    size_t n;
    char *buf;
};

/* Makes the folders above path. GS_OK or GS_FAILED, reported. */
int csv_open(struct csv *c, const char *path);
/* What is buffered is on its way to disk. GS_OK or GS_FAILED, reported. */
int csv_flush(struct csv *c);
/* Renames when `keep`, else removes. GS_OK or GS_FAILED, reported; nothing on one never opened. */
int csv_close(struct csv *c, bool keep);

/* Fields, a comma between them, and the row's end. NaN is an empty field. */
void csv_text(struct csv *c, const char *s); /* quoted when it has to be (RFC 4180) */
void csv_integer(struct csv *c, int64_t v);
/* Twelve significant digits, more than any clock here has; not finite: an empty cell. */
void csv_real(struct csv *c, double v);
void csv_end(struct csv *c);
void csv_header(struct csv *c, const char *columns); /* "a,b,c" */

/* Bytes as they are. */
void csv_bytes(struct csv *c, const char *s, size_t n);

/* Rows PREFIX,I,SECONDS for I from 1: samples of `iters` iterations. */
void csv_samples(struct csv *c, const char *prefix, size_t prefix_n, const uint64_t *time_ns,
                 size_t n, uint64_t iters);

/* "PREFIX" fields into a text, with the comma after each. */
void csv_prefix_text(struct text *t, const char *s);
void csv_prefix_integer(struct text *t, int64_t v);

/* time_ns / iters as a decimal, rounded to a femtosecond, no zeros at its end; not terminated.
 * Returns its length, at most CSV_DECIMAL. */
#define CSV_DECIMAL 40
enum csv_unit { CSV_SECONDS, CSV_MILLISECONDS, CSV_MICROSECONDS };
size_t csv_decimal(char *buf, uint64_t time_ns, uint64_t iters, enum csv_unit unit);

#endif
