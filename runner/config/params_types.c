/* SPDX-License-Identifier: Apache-2.0 */
#include "config/params_types.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

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
