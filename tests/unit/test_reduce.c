/* SPDX-License-Identifier: Apache-2.0 */
#include "../normal.h"
#include "base/csv.h"
#include "base/files.h"
#include "base/stats.h"
#include "common/rng.h"
#include "folder.h"
#include "record/host_load.h"
#include "reduce/axes.h"
#include "reduce/summary.h"

#include <inttypes.h>

#define TABLE "a/b/t.csv"

TEST_IN_FOLDER(times_are_exact_decimals)
{
    static const struct {
        uint64_t time_ns, iters;
        const char *want;
    } cases[] = {
        {1, 1, "0.000000001"},
        {0, 1, "0"},
        {1000000000, 1, "1"},
        {1500000000, 1, "1.5"},
        {35161, 16, "0.0000021975625"},
        {10, 3, "0.000000003333333"},
        {20, 3, "0.000000006666667"}, /* rounded, not cut */
        {100000000, 1, "0.1"},
        {18446744073709, 1, "18446.744073709"},
        {18446744073710, 1, "18446.74407371"},   /* more than 64 bits of femtoseconds */
        {1999999999, 2000000000, "0.000000001"}, /* what is rounded up carries */
        {UINT64_MAX, 1, "18446744073.709551615"},
        {UINT64_MAX, INT32_MAX, "8.589934596"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[CSV_DECIMAL];
        csv_decimal(got, cases[i].time_ns, cases[i].iters);
        assert_string_equal(got, cases[i].want);
    }
}

static void assert_file(const char *path, const char *want)
{
    AUTO_TEXT struct text got = {0};
    assert_true(files_read(path, FILES_GIVEN, SIZE_MAX, &got));
    assert_string_equal(got.s, want);
}

TEST_IN_FOLDER(fields_are_quoted_when_they_must_be)
{
    struct csv c;
    assert_int_equal(csv_open(&c, folder_path(TABLE)), GS_OK);
    csv_header(&c, "a,b");
    csv_text(&c, "plain text");
    csv_text(&c, "");
    csv_text(&c, "a,b");
    csv_text(&c, "say \"so\"");
    csv_text(&c, "two\nlines");
    csv_end(&c);
    csv_integer(&c, INT64_MIN);
    csv_real(&c, 0.1);
    csv_real(&c, NAN);
    csv_real(&c, INFINITY);
    csv_end(&c);
    assert_int_not_equal(access(folder_path(TABLE), F_OK), 0); /* not before it is whole */
    assert_int_equal(csv_close(&c, true), GS_OK);
    assert_file(folder_path(TABLE), "a,b\nplain text,,\"a,b\",\"say \"\"so\"\"\",\"two\nlines\"\n"
                                    "-9223372036854775808,0.1,,\n");
}

static int count_rows(const char *path, int *rows)
{
    struct csv_reader r;
    bool got = true;
    int code = csv_read_open(&r, path);
    if (code)
        return code;
    while (!(code = csv_read_row(&r, &got)) && got)
        ++*rows;
    csv_read_close(&r);
    return code;
}

TEST_IN_FOLDER(no_row_is_lost_on_reading)
{
    static const struct {
        const char *text, *said; /* NULL: nothing is wrong */
        int rows;
    } cases[] = {
        {"a,b\n1,2\n\n3,4\n", NULL, 2},
        {"\r\na,b\r\n1,2\r\n\r\n\r\n3,4\r\n\r\n", NULL, 2},
        {"a,b\n1,\"x\n\ny\"\n3,4", "t.csv:2: damaged: not printable text", 0},
        {"a,b\n1,\"x, y\"\n3,4", NULL, 2},
        {"a,b\n1,\"x\n3,4\n5,6\n", "t.csv:2: damaged: a quote is not closed", 0},
        {"a,b\n1,2\n3,\"4\"5\n", "t.csv:3: damaged: text after a closing quote", 1},
        {"a,b\n1,2\n3\n", "t.csv:3: 1 fields under a header of 2", 1},
        {"\n\n", "t.csv: empty", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int rows = 0;
        folder.error[0] = '\0';
        folder_put("t.csv", cases[i].text);
        int code = count_rows(folder_path("t.csv"), &rows);
        assert_int_equal(code != GS_OK, cases[i].said != NULL);
        assert_int_equal(rows, cases[i].rows);
        if (cases[i].said)
            folder_says(cases[i].said);
    }
    assert_int_not_equal(count_rows(folder.dir, &(int){0}), GS_OK);
    folder_says("cannot be read");
}

/* A crash of the machine may leave NULs in a file. */
TEST_IN_FOLDER(a_nul_is_damage)
{
    static const char text[] = "a,b\n1,2\n3,4\0\0\0005,6\n7,8\n";
    int rows = 0;
    FILE *out = fopen(folder_path("t.csv"), "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, sizeof text - 1, out), sizeof text - 1);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(count_rows(folder_path("t.csv"), &rows), GS_FAILED);
    folder_says("t.csv:3: damaged: not printable text");
    assert_int_equal(rows, 1);
}

TEST_IN_FOLDER(one_launch_has_no_interval)
{
    struct nested x[20];
    for (int i = 0; i < 20; i++)
        x[i] = (struct nested){.launch = 1, .value = i * 7 % 20 + 1};
    struct estimate e = estimate_median(x, 20, 1, "0123456789abcdef");
    assert_true(e.median == 10.5);
    assert_true(isnan(e.lo) && isnan(e.hi));
    assert_true(isnan(estimate_median(x, 0, 1, "0123456789abcdef").median));
}

TEST_IN_FOLDER(launches_widen_the_interval)
{
    struct nested same[100], apart[100];
    struct rng rng;
    rng_seed(&rng, 4);
    for (int i = 0; i < 100; i++) {
        int launch = i / 20;
        double noise = rng_normal(&rng);
        same[i] = (struct nested){.launch = launch, .value = 100 + noise};
        apart[i] = (struct nested){.launch = launch, .value = 100 + noise + 10 * (double)launch};
    }
    struct estimate a = estimate_median(same, 100, 1, "0123456789abcdef");
    struct estimate b = estimate_median(apart, 100, 1, "0123456789abcdef");
    assert_true(a.lo < a.median && a.median < a.hi && a.hi - a.lo < 1);
    assert_true(b.lo < b.median && b.median < b.hi && b.hi - b.lo > 10);
}

/* Launches longer than SUMMARY_BATCHES are batched: the interval stays that of all blocks. */
TEST_IN_FOLDER(long_launches_keep_their_interval)
{
    enum { BLOCKS = 3 * SUMMARY_BATCHES, LAUNCHES = 3 };
    struct nested *x = xmalloc(BLOCKS * LAUNCHES * sizeof *x),
                  *copy = xmalloc(BLOCKS * LAUNCHES * sizeof *copy);
    struct rng rng;
    rng_seed(&rng, 6);
    for (int i = 0; i < BLOCKS * LAUNCHES; i++)
        x[i] = copy[i] = (struct nested){.launch = i / BLOCKS, .value = 100 + rng_normal(&rng)};
    struct interval whole = stats_bootstrap_median(copy, BLOCKS * LAUNCHES, 2000, 0.95, &rng);
    struct estimate e = estimate_median(x, BLOCKS * LAUNCHES, 1, "0123456789abcdef");
    double width = whole.hi - whole.lo;
    assert_true(fabs((e.hi - e.lo) / width - 1) < 0.35);
    assert_true(e.lo < e.median && e.median < e.hi);
    free(x);
    free(copy);
}

static void where_is(const struct axes *a, const char *mode, const char *params, const char *want)
{
    AUTO_FREE char *got = axes_where(a, mode, params);
    assert_string_equal(got, want);
}

TEST_IN_FOLDER(axes_are_what_differs)
{
    struct axes a = {0}, added = {0}, choice = {0};
    axes_config(&a, "ctas=8/checksum=yes", "");
    axes_add(&a, "size=8 gemms=1 gem=1 ctas=4", "size=8 gemms=2 gem=1 ctas=8");
    where_is(&a, "overlapped", "size=8 gemms=2 gem=1 ctas=8", "overlapped gemms=2");
    where_is(&a, "", "size=8 gem=1", "-");
    axes_add(&added, "size=8 passes=3 collective=all_gather", "size=8"); /* as of an older plugin */
    where_is(&added, "", "size=8 passes=3 collective=all_gather", "passes=3 all_gather");
    axes_config(&choice, "words", "size=8 method=words words=2");
    axes_add(&choice, "size=8 method=words words=2", "size=8 method=strides words=3");
    where_is(&choice, "", "size=8 method=strides words=3", "words=3");
}
