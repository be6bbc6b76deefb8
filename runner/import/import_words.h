/* SPDX-License-Identifier: Apache-2.0
 *
 * The words and numbers of a line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
