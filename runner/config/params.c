/* SPDX-License-Identifier: Apache-2.0 */
#include "config/params.h"

#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- the types of parameters, one row each ---- */

static bool parse_int(const struct wl_param *p, const char *text, void *member)
{
    (void)p;
    return units_parse_int(text, member);
}

static void format_int(const struct wl_param *p, const void *member, char *buf, size_t n)
{
    (void)p;
    snprintf(buf, n, "%lld", (long long)*(const int64_t *)member);
}

static double number_int(const void *member)
{
    return (double)*(const int64_t *)member;
}

static void bound_int(double bound, char *buf, size_t n)
{
    snprintf(buf, n, "%.0f", bound);
}

static bool parse_size(const struct wl_param *p, const char *text, void *member)
{
    (void)p;
    return units_parse_size(text, member);
}

static void format_size(const struct wl_param *p, const void *member, char *buf, size_t n)
{
    (void)p;
    units_size(buf, n, *(const uint64_t *)member);
}

static double number_size(const void *member)
{
    return (double)*(const uint64_t *)member;
}

static void bound_size(double bound, char *buf, size_t n)
{
    units_size(buf, n, bound < 0 ? 0 : bound < 0x1p64 ? (uint64_t)bound : UINT64_MAX);
}

static bool parse_real(const struct wl_param *p, const char *text, void *member)
{
    (void)p;
    return units_parse_real(text, member);
}

static void format_plain(double value, char *buf, size_t n)
{
    units_double(buf, n, value);
    size_t len = strlen(buf);
    if (len > 2 && !strcmp(buf + len - 2, ".0"))
        buf[len - 2] = '\0';
}

/* Of large ones "1e15": zeros are hard to count. */
static void bound_real(double bound, char *buf, size_t n)
{
    format_plain(bound, buf, n);
    char *plus = strstr(buf, "e+");
    if (plus)
        memmove(plus + 1, plus + 2, strlen(plus + 2) + 1);
}

static void format_real(const struct wl_param *p, const void *member, char *buf, size_t n)
{
    (void)p;
    format_plain(*(const double *)member, buf, n);
}

static double number_double(const void *member)
{
    return *(const double *)member;
}

static bool parse_time(const struct wl_param *p, const char *text, void *member)
{
    (void)p;
    return units_parse_time(text, member);
}

#define DAY_S 86400.

static void bound_time(double bound, char *buf, size_t n)
{
    if (bound >= 2 * DAY_S)
        snprintf(buf, n, "%.3g days", bound / DAY_S);
    else
        units_time(buf, n, bound);
}

static void format_time(const struct wl_param *p, const void *member, char *buf, size_t n)
{
    (void)p;
    units_time(buf, n, *(const double *)member);
}

static bool parse_rate(const struct wl_param *p, const char *text, void *member)
{
    (void)p;
    return units_parse_rate(text, member);
}

static void bound_rate(double bound, char *buf, size_t n)
{
    units_rate(buf, n, bound);
}

static void format_rate(const struct wl_param *p, const void *member, char *buf, size_t n)
{
    (void)p;
    units_rate(buf, n, *(const double *)member);
}

static bool parse_bool(const struct wl_param *p, const char *text, void *member)
{
    (void)p;
    bool yes = !strcmp(text, "yes");
    if (!yes && strcmp(text, "no"))
        return false;
    *(bool *)member = yes;
    return true;
}

static void format_bool(const struct wl_param *p, const void *member, char *buf, size_t n)
{
    (void)p;
    snprintf(buf, n, "%s", *(const bool *)member ? "yes" : "no");
}

static bool parse_choice(const struct wl_param *p, const char *text, void *member)
{
    for (int i = 0; p->choices[i]; i++)
        if (!strcmp(p->choices[i], text)) {
            *(int *)member = i;
            return true;
        }
    return false;
}

static void format_choice(const struct wl_param *p, const void *member, char *buf, size_t n)
{
    snprintf(buf, n, "%s", p->choices[*(const int *)member]);
}

static void format_text(const struct wl_param *p, const void *member, char *buf, size_t n)
{
    (void)p;
    snprintf(buf, n, "%s", (const char *)member);
}

/* clang-format off */
const struct param_type param_types[] = {
    [WL_INT] = {parse_int, format_int, number_int, bound_int, sizeof(int64_t), "an integer, e.g. 3 or 4k"},
    [WL_SIZE] = {parse_size, format_size, number_size, bound_size, sizeof(uint64_t), "a size, e.g. 8, 64KiB or 1GB"},
    [WL_REAL] = {parse_real, format_real, number_double, bound_real, sizeof(double), "a number, e.g. 0.97 or 5%"},
    [WL_TIME] = {parse_time, format_time, number_double, bound_time, sizeof(double), "a time, e.g. 3us, 30min or 1h"},
    [WL_RATE] = {parse_rate, format_rate, number_double, bound_rate, sizeof(double), "a rate, e.g. 900GB/s or 25Gbit/s"},
    [WL_BOOL] = {parse_bool, format_bool, NULL, NULL, sizeof(bool), "yes or no"},
    [WL_CHOICE] = {parse_choice, format_choice, NULL, NULL, sizeof(int), "a choice"},
    [WL_TEXT] = {NULL, format_text, NULL, NULL, WL_TEXT_MAX, "a text"},
};
/* clang-format on */

/* ---- values ---- */

const char *const sweep_keys[SWEEP_KEYS] = {"configs", "exclude", "zip"};

static bool bounded(const struct wl_param *p)
{
    return p->min != 0 || p->max != 0;
}

static void *member_of(const struct wl_param *p, void *object)
{
    return (char *)object + p->offset;
}

bool param_numeric(const struct wl_param *p)
{
    return param_types[p->type].number;
}

size_t param_size(const struct wl_param *p)
{
    return param_types[p->type].size;
}

static void list_choices(const struct wl_param *p, char *buf, size_t n)
{
    size_t used = 0;
    for (size_t i = 0; p->choices[i] && used < n; i++) {
        int wrote = snprintf(buf + used, n - used, "%s%s", i ? ", " : "", p->choices[i]);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

const char *param_allowed(const struct wl_param *p, char *buf, size_t n)
{
    const struct param_type *o = &param_types[p->type];
    char low[48], high[48];
    if (p->type == WL_CHOICE) {
        list_choices(p, buf, n);
    } else if (p->type == WL_TEXT) {
        snprintf(buf, n, "a text of at most %d bytes", p->max > 0 ? (int)p->max : WL_TEXT_MAX - 1);
    } else if (!o->number || !bounded(p)) {
        snprintf(buf, n, "%s", o->what);
    } else {
        o->format_bound(p->min, low, sizeof low);
        o->format_bound(p->max, high, sizeof high);
        if (isinf(p->max))
            snprintf(buf, n, "%s or more", low);
        else if (isinf(p->min))
            snprintf(buf, n, "at most %s", high);
        else
            snprintf(buf, n, "%s..%s", low, high);
    }
    return buf;
}

/* The same but for the case of its letters: "32KB" is meant to be 32kB. Of rates b is bits and B is
 * bytes, which no guess may change. "64K" is meant as other benchmarks write it. */
static bool alike(const char *unit, const char *spelt)
{
    const char *b = strpbrk(unit, "bB"), *meant = strpbrk(spelt, "bB");
    if (strlen(unit) == 1 && strchr("kKMGT", *unit) && !strncasecmp(unit, spelt, 1) &&
        !strcmp(spelt + 1, "iB"))
        return true;
    return !strcasecmp(unit, spelt) && (!b || !b[1] || *b == *meant);
}

/* The number with the unit that was meant, into buf; NULL: none is near, or it is a number. */
static const char *with_unit(const struct wl_param *p, const char *text, char *buf, size_t n)
{
    union member v;
    char spelt[16];
    int digits = (int)strspn(text, "+-0123456789.");
    const char *unit = text + digits + strspn(text + digits, " \t");
    if (!*unit || (size_t)digits + sizeof spelt > n || param_types[p->type].parse(p, text, &v))
        return NULL;
    for (size_t i = 0; units_spelling(i, spelt, sizeof spelt); i++) {
        snprintf(buf, n, "%.*s%s", digits, text, spelt);
        if (alike(unit, spelt) && param_types[p->type].parse(p, buf, &v))
            return buf;
    }
    return NULL;
}

static bool refuse(const struct wl_param *p, const char *text, const char *is_not, char *why,
                   size_t n)
{
    char allowed[512], meant[64];
    const char *near = p->type == WL_CHOICE ? text_nearest(text, p->choices, params_choices(p))
                       : param_types[p->type].number ? with_unit(p, text, meant, sizeof meant)
                                                     : NULL;
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
    const struct param_type *o = &param_types[p->type];
    union member v;
    if (p->type == WL_TEXT)
        return param_parse_text(p, text, member_of(p, object), WL_TEXT_MAX, why, n);
    if (!o->parse(p, text, &v))
        return refuse(p, text, o->what, why, n);
    if (o->number && bounded(p)) {
        double x = o->number(&v);
        if (!(x >= p->min && x <= p->max))
            return refuse(p, text, "in range", why, n);
    }
    memcpy(member_of(p, object), &v, o->size);
    return true;
}

const char *param_format(const struct wl_param *p, const void *object, char *buf, size_t n)
{
    param_types[p->type].format(p, (const char *)object + p->offset, buf, n);
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
