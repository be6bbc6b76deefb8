/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- words ---- */

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

size_t words_of(const char *line, struct word *out, size_t max)
{
    size_t n = 0;
    for (const char *s = line; *s && n <= max;) {
        while (blank(*s))
            s++;
        const char *start = s;
        while (*s && !blank(*s))
            s++;
        if (s > start && n++ < max)
            out[n - 1] = (struct word){start, (size_t)(s - start)};
    }
    return n;
}

bool word_is(const struct word *w, const char *text)
{
    return strlen(text) == w->n && !memcmp(w->s, text, w->n);
}

bool word_integer(const struct word *w, int64_t *out)
{
    size_t i = w->n && (*w->s == '-' || *w->s == '+');
    int64_t v = 0;
    if (i == w->n || w->n > 18)
        return false;
    for (; i < w->n; i++) {
        if (w->s[i] < '0' || w->s[i] > '9')
            return false;
        v = v * 10 + (w->s[i] - '0');
    }
    *out = *w->s == '-' ? -v : v;
    return true;
}

bool text_plain(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && s[i] != '_')
            return false;
    return n > 0 && n < 32;
}

const char *word_copy(char *buf, size_t n, const struct word *w)
{
    size_t length = w->n < n ? w->n : n - 1;
    if (length) /* a row may lack the word */
        memcpy(buf, w->s, length);
    buf[length] = '\0';
    return buf;
}

/* ---- numbers ---- */

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define EXACT 22 /* powers of ten that a double holds exactly */

static double times_power(double v, int exponent)
{
    if (exponent >= 0 && exponent <= EXACT)
        return v * powers[exponent];
    if (exponent < 0 && exponent >= -EXACT)
        return v / powers[-exponent];
    return v * pow(10, exponent);
}

static bool read_word(struct number *out, const char *s, const char *end)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((size_t)(end - s) == strlen(words[i]) && !strncasecmp(s, words[i], (size_t)(end - s))) {
            out->value = i ? INFINITY : NAN;
            return true;
        }
    return false;
}

/* "e+06" at s. */
static const char *read_exponent(const char *s, const char *end, int *exponent)
{
    int e = 0;
    if (s == end || (*s != 'e' && *s != 'E'))
        return s;
    s++;
    bool negative = s < end && *s == '-';
    s += s < end && (*s == '-' || *s == '+');
    if (s == end)
        return NULL;
    for (; s < end && *s >= '0' && *s <= '9'; s++)
        e = e < 1000 ? e * 10 + (*s - '0') : e;
    *exponent += negative ? -e : e;
    return s;
}

/* After the point, `fraction` is 1. */
static const char *read_digits(struct number *out, const char *s, const char *end, int fraction)
{
    for (unsigned digit; s < end && (digit = (unsigned)(*s - '0')) <= 9; s++) {
        bool room = out->digits < 100000000000000000; /* 18 digits: more than a double holds */
        if (room)
            out->digits = out->digits * 10 + digit;
        out->exponent += room ? -fraction : !fraction;
    }
    return s;
}

bool number_read(struct number *out, const char *s, const char *end)
{
    *out = (struct number){0};
    const char *stop = s;
    while (stop < end && *stop && !blank(*stop))
        stop++;
    out->negative = s < stop && *s == '-';
    s += s < stop && (*s == '-' || *s == '+');
    const char *first = s, *point = s = read_digits(out, s, stop, 0);
    if (s < stop && *s == '.')
        s = read_digits(out, s + 1, stop, 1);
    if (point == first && s <= point + 1)
        return read_word(out, first, stop);
    s = read_exponent(s, stop, &out->exponent);
    if (s != stop)
        return false;
    out->finite = true;
    out->value = times_power((double)out->digits, out->exponent) * (out->negative ? -1 : 1);
    out->half = times_power(0.5, out->exponent);
    return isfinite(out->value) || (out->finite = false, true);
}

bool word_number(const struct word *w, struct number *out)
{
    return number_read(out, w->s, w->s + w->n);
}

bool number_scaled(const struct number *x, int shift, uint64_t *out)
{
    int e = x->exponent + shift;
    uint64_t v = x->digits;
    if (!x->finite)
        return false;
    for (; e > 0 && v; e--)
        if (__builtin_mul_overflow(v, 10, &v))
            return false;
    uint64_t dropped = 0;
    for (; e < 0 && (v || dropped); e++) {
        dropped = v % 10;
        v /= 10;
        if (!v && e < -1)
            dropped = 0;
    }
    v += dropped >= 5;
    *out = v;
    return v < 1000000000000000000;
}
