/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A library in a plugin may call setlocale. The main thread of every program keeps C's numbers all
 * the same: a locale of its own overrides the one that setlocale sets. */
__attribute__((constructor)) static void keep_decimal_points(void)
{
    uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

/* A value is a number times `up` over `down`; one of the two is 1, so that the factor is an exact
 * double and "200us" is the double nearest to 2e-4. */
struct unit {
    const char *name;
    double up, down;
};

static const struct unit time_units[] = {
    {"ns", 1, 1e9}, {"us", 1, 1e6}, {"\u00b5s", 1, 1e6}, {"ms", 1, 1e3}, {"s", 1, 1},
    {"min", 60, 1}, {"h", 3600, 1}, {"d", 86400, 1},     {NULL, 0, 0},
};

struct prefix {
    const char *name;
    uint64_t factor;
};

static const struct prefix prefixes[] = {
    {"", 1},
    {"k", 1000},
    {"M", 1000000},
    {"G", 1000000000},
    {"T", 1000000000000},
    {"Ki", 1ull << 10},
    {"Mi", 1ull << 20},
    {"Gi", 1ull << 30},
    {"Ti", 1ull << 40},
    {NULL, 0},
};

static const struct unit rate_units[] = {
    {"B/s", 1, 1}, {"Bps", 1, 1}, {"bit/s", 1, 8}, {"b/s", 1, 8}, {"bps", 1, 8}, {NULL, 0, 0},
};

/* ---- reading ---- */

/* A decimal number at *s, which moves past it and the blanks behind it. No hex, inf or nan. */
static bool number(const char **s, double *value)
{
    const char *digits = *s + (**s == '-' || **s == '+');
    if (!isdigit((unsigned char)digits[0]) &&
        !(digits[0] == '.' && isdigit((unsigned char)digits[1])))
        return false;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
        return false;
    char *end;
    *value = strtod(*s, &end);
    if (!isfinite(*value))
        return false;
    *s = end + strspn(end, " \t");
    return true;
}

static const struct prefix *find_prefix(const char *name, size_t n)
{
    for (const struct prefix *p = prefixes; p->name; p++)
        if (strlen(p->name) == n && !memcmp(p->name, name, n))
            return p;
    return NULL;
}

/* Digits, up to six decimals and a prefix, which come to a whole number: "1.5Ki". */
static bool exact(const char *s, bool bytes, uint64_t *value)
{
    char *end;
    errno = 0;
    uint64_t whole = isdigit((unsigned char)*s) ? strtoull(s, &end, 10) : 0, part = 0;
    if (!isdigit((unsigned char)*s) || errno)
        return false;
    if (*end == '.') {
        uint64_t place = 1000000;
        if (!isdigit((unsigned char)*++end))
            return false;
        for (; isdigit((unsigned char)*end) && place > 1; end++)
            part += (place /= 10) * (uint64_t)(*end - '0');
    }
    end += strspn(end, " \t");
    size_t n = strlen(end);
    if (bytes ? n && end[--n] != 'B' : n > 1) /* 128M: of 1000 or of 1024? */
        return false;
    const struct prefix *p = find_prefix(end, n);
    if (!p || part * p->factor % 1000000) /* < 10^6 * 2^40: no overflow */
        return false;
    return !__builtin_mul_overflow(whole, p->factor, value) &&
           !__builtin_add_overflow(*value, part * p->factor / 1000000, value);
}

bool units_parse_size(const char *text, uint64_t *bytes)
{
    return exact(text, true, bytes);
}

bool units_parse_int(const char *text, int64_t *value)
{
    bool negative = *text == '-';
    uint64_t size;
    if (!exact(text + (negative || *text == '+'), false, &size) || size > (uint64_t)INT64_MAX)
        return false;
    *value = negative ? -(int64_t)size : (int64_t)size;
    return true;
}

static bool by_unit(const struct unit *u, const char *name, double number_, double *value)
{
    for (; u->name; u++)
        if (!strcmp(u->name, name)) {
            *value = number_ * u->up / u->down;
            return isfinite(*value);
        }
    return false;
}

bool units_parse_time(const char *text, double *seconds)
{
    double v;
    return number(&text, &v) && v >= 0 && by_unit(time_units, *text ? text : "s", v, seconds);
}

bool units_parse_rate(const char *text, double *bytes_per_s)
{
    double v;
    if (!number(&text, &v) || v < 0)
        return false;
    if (!*text) {
        *bytes_per_s = v;
        return true;
    }
    size_t n = strcspn(text, "Bb");
    const struct prefix *p = find_prefix(text, n);
    return p && by_unit(rate_units, text + n, v * (double)p->factor, bytes_per_s);
}

bool units_parse_real(const char *text, double *value)
{
    static const struct unit real_units[] = {{"", 1, 1}, {"%", 1, 100}, {NULL, 0, 0}};
    double v;
    return number(&text, &v) && by_unit(real_units, text, v, value);
}

/* ---- writing ---- */

/* As few digits as read back the same. */
static const char *shortest(char *buf, size_t n, double value)
{
    /* Any normal double that at most 15 digits write comes back from 15; subnormals have fewer. */
    int first = fabs(value) < 1e-307 ? 1 : 15;
    for (int digits = first; digits <= 17; digits++) {
        snprintf(buf, n, "%.*g", digits, value);
        if (digits == 17 || strtod(buf, NULL) == value)
            break;
    }
    return buf;
}

const char *units_double(char *buf, size_t n, double value)
{
    shortest(buf, n, value);
    size_t len = strlen(buf);
    if (isfinite(value) && !strpbrk(buf, ".e") && len + 3 <= n)
        memcpy(buf + len, ".0", 3);
    return buf;
}

const char *units_size(char *buf, size_t n, uint64_t bytes)
{
    static const char *const binary[] = {"", "KiB", "MiB", "GiB", "TiB"};
    size_t i = 0;
    uint64_t v = bytes;
    while (v && v % 1024 == 0 && i + 1 < COUNT(binary)) {
        v /= 1024;
        i++;
    }
    snprintf(buf, n, "%llu%s", (unsigned long long)v, binary[i]);
    return buf;
}

/* In the largest of `order` that gives at least 1 and reads back as the same double; else bare. */
static const char *in_unit(char *buf, size_t n, double value, const char *const *order,
                           bool (*parse)(const char *, double *))
{
    char digits[40];
    for (; *order; order++) {
        double one, back;
        char text[64];
        snprintf(text, sizeof text, "1%s", *order);
        if (!parse(text, &one) || value < one)
            continue;
        shortest(digits, sizeof digits, one < 1 ? value * round(1 / one) : value / one);
        snprintf(text, sizeof text, "%s%s", digits, *order);
        if (parse(text, &back) && back == value && strlen(digits) <= 6) {
            snprintf(buf, n, "%s", text);
            return buf;
        }
    }
    return shortest(buf, n, value);
}

const char *units_time(char *buf, size_t n, double seconds)
{
    static const char *const order[] = {"h", "min", "s", "ms", "us", "ns", NULL};
    return in_unit(buf, n, seconds, order, units_parse_time);
}

const char *units_rate(char *buf, size_t n, double bytes_per_s)
{
    static const char *const order[] = {"TB/s", "GB/s", "MB/s", "kB/s", "B/s", NULL};
    return in_unit(buf, n, bytes_per_s, order, units_parse_rate);
}

/* ---- for people ---- */

/* Rounded numbers for people; those of units.c are exact. */

struct step {
    double at_least, one;
    const char *name;
};

static const char *human(char *buf, size_t n, double value, const struct step *s)
{
    while (fabs(value) < s->at_least && s[1].name)
        s++;
    double v = value / s->one;
    int decimals = fabs(v) < 9.995 ? 2 : fabs(v) < 99.95 ? 1 : 0;
    snprintf(buf, n, "%.*f %s", v == floor(v) && fabs(v) < 1000 ? 0 : decimals, v, s->name);
    return buf;
}

const char *units_human_time(char *buf, size_t n, double seconds)
{
    static const struct step steps[] = {
        {172800, 86400, "d"},    {36000, 3600, "h"},      {600, 60, "min"}, {1, 1, "s"},
        {0.9995e-3, 1e-3, "ms"}, {0.9995e-6, 1e-6, "us"}, {0, 1e-9, "ns"},  {0, 0, NULL}};
    return human(buf, n, seconds, steps);
}

const char *units_human_rate(char *buf, size_t n, double bytes_per_s)
{
    static const struct step steps[] = {
        {0.9995e12, 1e12, "TB/s"}, {0.9995e9, 1e9, "GB/s"}, {0.9995e6, 1e6, "MB/s"},
        {0.9995e3, 1e3, "kB/s"},   {0, 1, "B/s"},           {0, 0, NULL}};
    return human(buf, n, bytes_per_s, steps);
}

const char *units_human_size(char *buf, size_t n, double bytes)
{
    static const struct step steps[] = {{1099511627776., 1099511627776., "TiB"},
                                        {1073741824., 1073741824., "GiB"},
                                        {1048576., 1048576., "MiB"},
                                        {1024., 1024., "KiB"},
                                        {0, 1, "B"},
                                        {0, 0, NULL}};
    return human(buf, n, bytes, steps);
}

const char *units_short_size(char *buf, size_t n, uint64_t bytes)
{
    units_size(buf, n, bytes);
    return strlen(buf) > strlen("1023MiB") ? units_human_size(buf, n, (double)bytes) : buf;
}

const char *units_human_si(char *buf, size_t n, double value, const char *unit)
{
    static const char *const powers[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;
    for (; fabs(value) >= 999.5 && i + 1 < COUNT(powers); i++)
        value /= 1000;
    snprintf(buf, n, "%.3g %s%s", value, powers[i], unit);
    return buf;
}
