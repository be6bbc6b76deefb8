/* SPDX-License-Identifier: Apache-2.0
 *
 * A file of text, line by line in bounded memory, hashed on the way; and its numbers.
 */
#ifndef GS_IMPORT_LINES_H
#define GS_IMPORT_LINES_H

#include "../text.h"

#include <sodium.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_MAX ((size_t)64 << 10) /* bytes of a line that are looked at */

struct lines {
    const char *path;
    int fd;
    char *buf; /* bytes [at, end) are read and not yet given out */
    size_t at, end;
    size_t number; /* of the line last given out */
    bool eof;
    bool torn; /* the line last given out has no newline */
    bool cut;  /* the line last given out was longer than LINES_MAX: its start */
    crypto_hash_sha256_state hash;
};

/* GS_OK, or GS_FAILED, reported: cannot be opened, not a regular file, empty. */
int lines_open(struct lines *in, const char *path);
/* The next line, terminated, without its end (LF, CRLF). 1; 0 at the end; -1, reported: cannot be
 * read, or a NUL byte, as text has none. Valid until the next. */
int lines_next(struct lines *in, char **line, size_t *n);
/* What is left, as it is, for formats that are no lines; refused past `max` bytes. */
int lines_all(struct lines *in, struct text *out, size_t max);
int lines_rewind(struct lines *in);                /* GS_OK or reported */
void lines_sha256(struct lines *in, char hex[65]); /* at the end */
void lines_close(struct lines *in);

/* A decimal number as printed: digits x 10^exponent, and half of its last digit. */
struct number {
    bool finite; /* false: nan or inf */
    bool negative;
    uint64_t digits;
    int exponent;
    double value, half;
};
/* Reads one at s, up to a blank, a NUL or `end`; false: no number is there. */
bool number_read(struct number *out, const char *s, const char *end);
/* |value| x 10^shift, rounded; false: not finite, or not below 10^18. */
bool number_scaled(const struct number *x, int shift, uint64_t *out);

/* Words between blanks: the first `max`, of *n in all. */
struct word {
    const char *s;
    size_t n;
};
size_t words_of(const char *line, struct word *out, size_t max);
bool word_is(const struct word *w, const char *text);
bool word_integer(const struct word *w, int64_t *out); /* digits alone, with a sign or not */
bool text_plain(const char *s, size_t n);              /* letters, digits and '_', one at least */
const char *word_copy(char *buf, size_t n, const struct word *w);

#endif
