/* SPDX-License-Identifier: Apache-2.0
 *
 * Rounded numbers for people; those of units.c are exact.
 */
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    for (; fabs(value) >= 999.5 && i + 1 < sizeof powers / sizeof *powers; i++)
        value /= 1000;
    snprintf(buf, n, "%.3g %s%s", value, powers[i], unit);
    return buf;
}
