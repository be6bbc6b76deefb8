/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of other programs: its lines, their words and numbers, and what launchers and NCCL add to
 * them.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORT_LINE_MAX ((size_t)64 << 10) /* bytes of a line that are given out */
#define IMPORT_FILE_MAX ((size_t)1 << 30)  /* bytes of a file; larger files are refused */

struct import_lines {
    const char *path;
    struct text text;
    size_t at;     /* where the next line begins */
    size_t number; /* of the line last given out */
    bool torn;     /* the line last given out has no newline */
    bool cut;      /* the line last given out is longer than IMPORT_LINE_MAX; this is its start */
    char *stop;    /* where the line last given out is terminated, and the byte that was there */
    char stopped;
};

/* GS_OK; or reported: the file cannot be opened, is not a regular file, is empty or too large, or
 * contains a NUL byte. import_lines_close in both cases. */
int import_lines_open(struct import_lines *in, const char *path);
/* The next line, terminated, without its LF or CRLF; false at the end. Valid until the next call. */
bool import_lines_next(struct import_lines *in, char **line);
void import_lines_rewind(struct import_lines *in);
void import_lines_close(struct import_lines *in);

/* A decimal number as it was printed: digits x 10^exponent. half: half of its last digit. */
struct number {
    bool finite; /* false: nan or inf */
    bool negative;
    uint64_t digits;
    int exponent;
    double value, half;
};
/* Reads the number at s, up to a blank, a NUL or `end`; false: there is none. */
bool number_read(struct number *out, const char *s, const char *end);
/* |value| x 10^shift, rounded; false: not finite, or not below 10^18. */
bool number_scaled(const struct number *x, int shift, uint64_t *out);

struct word {
    const char *s;
    size_t n;
};
/* The words between blanks, `max` of them at most into out; returns how many there are, or max + 1:
 * there are more. */
size_t words_of(const char *line, struct word *out, size_t max);
bool word_is(const struct word *w, const char *text);
bool word_integer(const struct word *w, int64_t *out); /* digits, with or without a sign */
bool word_number(const struct word *w, struct number *out);
bool text_plain(const char *s, size_t n); /* 1 to 31 letters, digits and '_' */
const char *word_copy(char *buf, size_t n, const struct word *w);

/* Skips the prefix that a launcher adds: "[1,0]<stdout>: ", " 0: ". */
char *import_past_tag(char *line);

/* Where a message of NCCL begins, "[TIME] HOST:PID:TID [DEVICE] NCCL INFO …"; NULL: the line has
 * none. A message may follow the last field of a row without a blank. */
char *import_message_in(char *line);
