/* SPDX-License-Identifier: Apache-2.0
 *
 * Words and numbers of a line.
 */
#ifndef GS_IMPORT_WORDS_H
#define GS_IMPORT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
