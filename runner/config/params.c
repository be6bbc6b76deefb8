/* SPDX-License-Identifier: Apache-2.0 */
#include "config/params.h"

#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the types of parameters ---- */

static const struct {
    size_t size;
    bool numeric;     /* compared with min and max as a double */
    const char *what; /* for the message about a text that does not parse */
} types[] = {
    [WL_INT] = {sizeof(int64_t), true, "an integer, e.g. 3 or 4k"},
    [WL_SIZE] = {sizeof(uint64_t), true, "a size, e.g. 8, 64KiB or 1GB"},
    [WL_REAL] = {sizeof(double), true, "a number, e.g. 0.97 or 5%"},
    [WL_TIME] = {sizeof(double), true, "a time, e.g. 3us, 30min or 1h"},
    [WL_RATE] = {sizeof(double), true, "a rate, e.g. 900GB/s or 25Gbit/s"},
    [WL_BOOL] = {sizeof(bool), false, "yes or no"},
    [WL_CHOICE] = {sizeof(int), false, "a choice"},
    [WL_TEXT] = {WL_TEXT_MAX, false, "a text"},
};

/* Not of a text, which is copied. */
static bool parse(const struct wl_param *p, const char *text, union member *v)
{
    switch (p->type) {
    case WL_INT:
        return units_parse_int(text, &v->i);
    case WL_SIZE:
        return units_parse_size(text, &v->u);
    case WL_REAL:
        return units_parse_real(text, &v->d);
    case WL_TIME:
        return units_parse_time(text, &v->d);
    case WL_RATE:
        return units_parse_rate(text, &v->d);
    case WL_BOOL:
        v->b = !strcmp(text, "yes");
        return v->b || !strcmp(text, "no");
    case WL_CHOICE:
        for (v->c = 0; p->choices[v->c]; v->c++)
            if (!strcmp(p->choices[v->c], text))
                return true;
        break;
    case WL_TEXT:
        break;
    }
    return false;
}

static double number(const struct wl_param *p, const union member *v)
{
    return p->type == WL_INT ? (double)v->i : p->type == WL_SIZE ? (double)v->u : v->d;
}

static void format_real(double value, char *buf, size_t n)
{
    units_double(buf, n, value);
    size_t len = strlen(buf);
    if (len > 2 && !strcmp(buf + len - 2, ".0"))
        buf[len - 2] = '\0';
}

#define DAY_S 86400.

static void format_bound(const struct wl_param *p, double bound, char *buf, size_t n)
{
    char *plus;
    if (p->type == WL_INT)
        snprintf(buf, n, "%.0f", bound);
    else if (p->type == WL_SIZE)
        units_size(buf, n, bound < 0 ? 0 : bound < 0x1p64 ? (uint64_t)bound : UINT64_MAX);
    else if (p->type == WL_RATE)
        units_rate(buf, n, bound);
    else if (p->type == WL_TIME && bound >= 2 * DAY_S)
        snprintf(buf, n, "%.3g days", bound / DAY_S);
    else if (p->type == WL_TIME)
        units_time(buf, n, bound);
    else {
        format_real(bound, buf, n);
        if ((plus = strstr(buf, "e+"))) /* "1e15": zeros are hard to count */
            memmove(plus + 1, plus + 2, strlen(plus + 2) + 1);
    }
}

/* ---- values ---- */

bool param_numeric(const struct wl_param *p)
{
    return types[p->type].numeric;
}

size_t param_size(const struct wl_param *p)
{
    return types[p->type].size;
}

const char *param_allowed(const struct wl_param *p, char *buf, size_t n)
{
    char low[48], high[48];
    if (p->type == WL_CHOICE) {
        size_t used = 0;
        for (size_t i = 0; p->choices[i] && used < n; i++)
            used += (size_t)snprintf(buf + used, n - used, "%s%s", i ? ", " : "", p->choices[i]);
    } else if (p->type == WL_TEXT) {
        snprintf(buf, n, "a text of at most %d bytes", p->max > 0 ? (int)p->max : WL_TEXT_MAX - 1);
    } else if (!param_numeric(p) || (p->min == 0 && p->max == 0)) {
        snprintf(buf, n, "%s", types[p->type].what);
    } else {
        format_bound(p, p->min, low, sizeof low);
        format_bound(p, p->max, high, sizeof high);
        if (isinf(p->max))
            snprintf(buf, n, "%s or more", low);
        else if (isinf(p->min))
            snprintf(buf, n, "at most %s", high);
        else
            snprintf(buf, n, "%s..%s", low, high);
    }
    return buf;
}

static bool refuse(const struct wl_param *p, const char *text, const char *is_not, char *why,
                   size_t n)
{
    char allowed[512];
    const char *near = text_nearest(text, p->choices, params_choices(p)); /* none but of a choice */
    param_allowed(p, allowed, sizeof allowed);
    /* What it is and what is allowed are often the same words: they are said once. */
    if (strcmp(is_not, allowed))
        snprintf(why, n, "'%.80s' is not %s (%s%s)", text, is_not, allowed, DID_YOU_MEAN(near));
    else
        snprintf(why, n, "'%.80s' is not %s%s", text, allowed, DID_YOU_MEAN(near));
    return false;
}

size_t params_choices(const struct wl_param *p)
{
    size_t n = 0;
    while (p->choices && p->choices[n])
        n++;
    return n;
}

bool param_parse_text(const struct wl_param *p, const char *text, char *dst, size_t size, char *why,
                      size_t n)
{
    size_t len = strlen(text),
           most = p->max > 0 && p->max < (double)size ? (size_t)p->max : size - 1;
    if (len > most) {
        snprintf(why, n, "the text has %zu bytes (at most %zu)", len, most);
        return false;
    }
    memset(dst, 0, size); /* cells are compared and hashed whole */
    memcpy(dst, text, len);
    return true;
}

bool param_parse(const struct wl_param *p, const char *text, void *object, char *why, size_t n)
{
    union member v;
    if (p->type == WL_TEXT)
        return param_parse_text(p, text, (char *)object + p->offset, WL_TEXT_MAX, why, n);
    if (!parse(p, text, &v))
        return refuse(p, text, types[p->type].what, why, n);
    if (param_numeric(p) && (p->min != 0 || p->max != 0) &&
        !(number(p, &v) >= p->min && number(p, &v) <= p->max))
        return refuse(p, text, "in range", why, n);
    memcpy((char *)object + p->offset, &v, param_size(p));
    return true;
}

const char *param_format(const struct wl_param *p, const void *object, char *buf, size_t n)
{
    const void *member = (const char *)object + p->offset;
    switch (p->type) {
    case WL_INT:
        snprintf(buf, n, "%lld", (long long)*(const int64_t *)member);
        break;
    case WL_SIZE:
        return units_size(buf, n, *(const uint64_t *)member);
    case WL_REAL:
        format_real(*(const double *)member, buf, n);
        break;
    case WL_TIME:
        return units_time(buf, n, *(const double *)member);
    case WL_RATE:
        return units_rate(buf, n, *(const double *)member);
    case WL_BOOL:
        snprintf(buf, n, "%s", *(const bool *)member ? "yes" : "no");
        break;
    case WL_CHOICE:
        snprintf(buf, n, "%s", p->choices[*(const int *)member]);
        break;
    case WL_TEXT:
        snprintf(buf, n, "%s", (const char *)member);
        break;
    }
    return buf;
}

bool params_default(const struct wl_param *table, void *object, char *why, size_t n)
{
    for (const struct wl_param *p = table; p->name; p++) {
        char one[512];
        if (!param_parse(p, p->def ? p->def : "", object, one, sizeof one)) {
            snprintf(why, n, "default of '%s': %s", p->name, one);
            return false;
        }
    }
    return true;
}

bool param_is_default(const struct wl_param *p, const void *object)
{
    char why[512];
    AUTO_FREE char *defaults = xcalloc(1, p->offset + param_size(p));
    return param_parse(p, p->def, defaults, why, sizeof why) &&
           !memcmp(defaults + p->offset, (const char *)object + p->offset, param_size(p));
}

size_t params_count(const struct wl_param *table)
{
    size_t n = 0;
    while (table[n].name)
        n++;
    return n;
}

const struct wl_param *params_find(const struct wl_param *table, const char *name)
{
    for (const struct wl_param *p = table; p->name; p++)
        if (!strcmp(p->name, name))
            return p;
    return NULL;
}

const char *params_nearest(const struct wl_param *table, const char *name)
{
    return NEAREST(name, table, params_count(table), name);
}
