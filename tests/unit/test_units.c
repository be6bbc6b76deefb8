/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"
#include "unit.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(a) (sizeof(a) / sizeof *(a))

TEST(sizes)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},
                {"8", 8},
                {"64KiB", 65536},
                {"64 KiB", 65536},
                {"128MiB", 134217728},
                {"1GB", 1000000000},
                {"1.5KiB", 1536},
                {"0.5kB", 500},
                {"8B", 8},
                {"18446744073709551615", UINT64_MAX},
                {"16777215TiB", 16777215ull << 40}};
    static const char *const bad[] = {
        "",      "-8",   "8M",  "128K",        "8 bytes", "1.5",
        "1e6",   "KiB",  "8kb", "0.1KiB",      "8.",      "18446744073709551616",
        "0x10B", "8 8B", "1.B", "16777216TiB", " 8"};
    uint64_t v;
    for (size_t i = 0; i < N(good); i++) {
        assert_true(units_parse_size(good[i].text, &v));
        assert_int_equal(v, good[i].bytes);
    }
    for (size_t i = 0; i < N(bad); i++)
        if (units_parse_size(bad[i], &v))
            fail_msg("'%s' is taken for %llu bytes", bad[i], (unsigned long long)v);
}

TEST(integers)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"3", 3},
                {"-3", -3},
                {"+3", 3},
                {"4k", 4000},
                {"1M", 1000000},
                {"1.5k", 1500},
                {"9223372036854775807", INT64_MAX}};
    static const char *const bad[] = {
        "", "k", "1.5", "3ki", "--3", "+-3", "1e3", "9223372036854775808", "10000000000G"};
    int64_t v;
    for (size_t i = 0; i < N(good); i++) {
        assert_true(units_parse_int(good[i].text, &v));
        assert_int_equal(v, good[i].value);
    }
    for (size_t i = 0; i < N(bad); i++)
        if (units_parse_int(bad[i], &v))
            fail_msg("'%s' is taken for %lld", bad[i], (long long)v);
}

struct real {
    const char *text;
    double value;
};

static void check_reals(bool (*parse)(const char *, double *), const struct real *good, size_t n,
                        const char *const *bad, size_t m)
{
    double v;
    for (size_t i = 0; i < n; i++) {
        if (!parse(good[i].text, &v))
            fail_msg("'%s' is refused", good[i].text);
        assert_true(v == good[i].value); /* the nearest double, not one beside it */
    }
    for (size_t i = 0; i < m; i++)
        if (parse(bad[i], &v))
            fail_msg("'%s' is taken for %g", bad[i], v);
}

TEST(reals)
{
    static const struct real times[] = {{"3us", 3e-6},    {"200ms", 0.2},      {"1.5s", 1.5},
                                        {"2min", 120},    {"1h", 3600},        {"0.25", 0.25},
                                        {"1e-3 s", 1e-3}, {"7 \u00b5s", 7e-6}, {"0.3ms", 3e-4}};
    static const char *const no_times[] = {"",    "-1s", "3 m",   "us",    "1S",
                                           "inf", "nan", "0x1p3", "1e999", "1,5s"};
    check_reals(units_parse_time, times, N(times), no_times, N(no_times));
    static const struct real rates[] = {
        {"900GB/s", 9e11},      {"25Gbit/s", 3.125e9}, {"100Mbps", 1.25e7}, {"400Gb/s", 5e10},
        {"1GiB/s", 1073741824}, {"354GBps", 354e9},    {"5e9", 5e9}};
    static const char *const no_rates[] = {"", "900GB", "-1GB/s", "1gB/s", "1XB/s", "1GB/h"};
    check_reals(units_parse_rate, rates, N(rates), no_rates, N(no_rates));
    static const struct real numbers[] = {
        {"0.97", 0.97}, {"5%", 0.05}, {"1e-3", 1e-3}, {"-2", -2}, {".5", 0.5}};
    static const char *const no_numbers[] = {"", "%", "1 2", "1k", "nan", "-inf", "."};
    check_reals(units_parse_real, numbers, N(numbers), no_numbers, N(no_numbers));
}

TEST(shortest_texts)
{
    char buf[64];
    assert_string_equal(units_size(buf, sizeof buf, 8), "8");
    assert_string_equal(units_size(buf, sizeof buf, 65536), "64KiB");
    assert_string_equal(units_size(buf, sizeof buf, 1000), "1000");
    assert_string_equal(units_size(buf, sizeof buf, 0), "0");
    assert_string_equal(units_time(buf, sizeof buf, 2e-4), "200us");
    assert_string_equal(units_time(buf, sizeof buf, 10), "10s");
    assert_string_equal(units_time(buf, sizeof buf, 0), "0");
    assert_string_equal(units_rate(buf, sizeof buf, 9e11), "900GB/s");
    assert_string_equal(units_double(buf, sizeof buf, 0.1), "0.1");
    assert_string_equal(units_double(buf, sizeof buf, 5), "5.0");
    assert_string_equal(units_double(buf, sizeof buf, 1e300), "1e+300");
    assert_string_equal(units_double(buf, sizeof buf, 5e-324), "5e-324");
    assert_string_equal(units_double(buf, sizeof buf, 0.1 + 0.2), "0.30000000000000004");
}

/* Whatever is written reads back as the same value. */
TEST(round_trips)
{
    uint64_t x = 88172645463325252ull;
    char buf[64];
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17; /* xorshift64, Marsaglia 2003 */
        uint64_t size = x >> (i % 64), size_back;
        double v = ldexp((double)(x >> 11), -(i % 90)), back;
        assert_true(units_parse_size(units_size(buf, sizeof buf, size), &size_back));
        assert_int_equal(size, size_back);
        assert_true(units_parse_time(units_time(buf, sizeof buf, v), &back) && back == v);
        assert_true(units_parse_rate(units_rate(buf, sizeof buf, v), &back) && back == v);
        assert_true(strtod(units_double(buf, sizeof buf, v), NULL) == v);
    }
}

TEST(for_people)
{
    char buf[64];
    assert_string_equal(units_human_time(buf, sizeof buf, 614e-6), "614 us");
    assert_string_equal(units_human_time(buf, sizeof buf, 8.3e-6), "8.30 us");
    assert_string_equal(units_human_time(buf, sizeof buf, 90), "90 s");
    assert_string_equal(units_human_time(buf, sizeof buf, 36.36), "36.4 s");
    assert_string_equal(units_human_time(buf, sizeof buf, 47 * 3600), "47 h");
    assert_string_equal(units_human_time(buf, sizeof buf, 100 * 3600), "4.17 d");
    assert_string_equal(units_human_rate(buf, sizeof buf, 354e9), "354 GB/s");
    assert_string_equal(units_human_rate(buf, sizeof buf, 999.99e6), "1.00 GB/s");
    assert_string_equal(units_human_si(buf, sizeof buf, 1.17e15, "FLOP/s"), "1.17 PFLOP/s");
    assert_string_equal(units_human_si(buf, sizeof buf, 999.6, "B"), "1 kB");
    assert_string_equal(units_human_size(buf, sizeof buf, 1536), "1.50 KiB");
    assert_string_equal(units_human_size(buf, sizeof buf, 100), "100 B");
    assert_string_equal(units_short_size(buf, sizeof buf, 65536), "64KiB");
    assert_string_equal(units_short_size(buf, sizeof buf, 846448 * 1024), "827 MiB");
}

TEST(decimal_commas)
{
    static const char *const with_comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "de_DE"};
    size_t i = 0;
    while (i < N(with_comma) && !setlocale(LC_ALL, with_comma[i]))
        i++;
    if (i == N(with_comma))
        skip();
    char buf[64];
    double v;
    bool read = units_parse_real("0.5", &v);
    units_double(buf, sizeof buf, 0.5);
    setlocale(LC_ALL, "C");
    assert_true(read && v == 0.5);
    assert_string_equal(buf, "0.5");
}
