/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts numbers with units to and from SI base units.
 *
 *   size  bytes       8, 64KiB, 128MiB, 1GB       KiB = 2^10, kB = 10^3
 *   time  seconds     3us, 200ms, 1.5s, 2min, 1h  a bare number is seconds
 *   rate  bytes/s     900GB/s, 25Gbit/s, 100Mbps  bit/s and bps are divided by 8
 *   real  a number    0.97, 5%, 1e-3
 *   int   an integer  3, 4k, 1M                   powers of 1000
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False if text is not such a number, overflows, or is negative where that is not allowed. */
bool units_parse_size(const char *text, uint64_t *bytes);
bool units_parse_time(const char *text, double *seconds);
bool units_parse_rate(const char *text, double *bytes_per_s);
bool units_parse_real(const char *text, double *value);
bool units_parse_int(const char *text, int64_t *value);

/* The shortest text that parses back to the exact value: 65536 -> "64KiB", 2e-4 -> "200us". */
const char *units_size(char *buf, size_t n, uint64_t bytes);
const char *units_time(char *buf, size_t n, double seconds);
const char *units_rate(char *buf, size_t n, double bytes_per_s);
/* Rounded to three significant digits: "614 us", "4.17 d", "354 GB/s". */
const char *units_human_time(char *buf, size_t n, double seconds);
const char *units_human_rate(char *buf, size_t n, double bytes_per_s);
const char *units_human_size(char *buf, size_t n, double bytes);
/* For tables: "256KiB"; "1.09 GiB" of a size that is no round number. */
const char *units_short_size(char *buf, size_t n, uint64_t bytes);
/* The same, valid until the end of the block. */
#define HUMAN_TIME(seconds) units_human_time((char[32]){0}, 32, seconds)
#define HUMAN_RATE(bytes_per_s) units_human_rate((char[32]){0}, 32, bytes_per_s)
#define HUMAN_SIZE(bytes) units_human_size((char[32]){0}, 32, (double)(bytes))
#define SHORT_SIZE(bytes) units_short_size((char[32]){0}, 32, (uint64_t)(bytes))
/* Any unit, in powers of 1000, without trailing zeros: "1.17 PFLOP/s", "3.9 GB". */
const char *units_human_si(char *buf, size_t n, double value, const char *unit);

/* The shortest decimal that parses back to the same double; it always has a point or an exponent. */
const char *units_double(char *buf, size_t n, double value);
