/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers with units, as users write them, to and from SI base units. Pure; independent of locale.
 *
 *   size  bytes       8, 64KiB, 128MiB, 1GB       KiB = 2^10, kB = 10^3
 *   time  seconds     3us, 200ms, 1.5s, 2min, 1h  a bare number is seconds
 *   rate  bytes/s     900GB/s, 25Gbit/s, 100Mbps  bit/s and bps are divided by 8
 *   real  a number    0.97, 5%, 1e-3
 *   int   an integer  3, 4k, 1M                   powers of 1000
 */
#ifndef GS_UNITS_H
#define GS_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False when text is not such a number, is negative where it cannot be, or overflows. */
bool units_parse_size(const char *text, uint64_t *bytes);
bool units_parse_time(const char *text, double *seconds);
bool units_parse_rate(const char *text, double *bytes_per_s);
bool units_parse_real(const char *text, double *value);
bool units_parse_int(const char *text, int64_t *value);

/* The i-th unit that any of these takes, into buf, which 16 bytes hold; false: there are fewer. */
bool units_spelling(size_t i, char *buf, size_t n);

/* Shortest exact text that parses back to the value: 65536 -> "64KiB", 8 -> "8", 2e-4 -> "200us".
 */
const char *units_size(char *buf, size_t n, uint64_t bytes);
const char *units_time(char *buf, size_t n, double seconds);
const char *units_rate(char *buf, size_t n, double bytes_per_s);
/* For people: three significant digits, "614 us", "4.17 d", "354 GB/s". */
const char *units_human_time(char *buf, size_t n, double seconds);
const char *units_human_rate(char *buf, size_t n, double bytes_per_s);
const char *units_human_size(char *buf, size_t n, double bytes);
/* Any unit, in powers of 1000, without trailing zeros: "1.17 PFLOP/s", "3.9 GB". */
const char *units_human_si(char *buf, size_t n, double value, const char *unit);

/* Shortest decimal that reads back as the same double, always with a point or exponent as C does
 * in the C locale, whatever the locale is. */
const char *units_double(char *buf, size_t n, double value);

#endif
