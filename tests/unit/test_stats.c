/* SPDX-License-Identifier: Apache-2.0
 *
 * Expected values are computed with SciPy 1.17.1 and NumPy 2.4.6 by the call quoted at each.
 */
#include "../normal.h"
#include "base/stats.h"
#include "unit.h"

static const double d[] = {10.2, 10.9, 11.3, 9.8,  10.1, 12.4, 10.6, 10.0, 11.1, 10.4,
                           10.7, 9.9,  11.8, 10.3, 10.5, 10.8, 11.0, 10.2, 9.7,  11.5};
enum { N = sizeof d / sizeof *d };

/* scipy.stats.mstats.mquantiles(d, [.05,.25,.5,.95,.99], alphap=1, betap=1) */
TEST(quantiles_are_type_7)
{
    near(stats_quantile(d, N, 0.05), 9.795, 1e-12);
    near(stats_quantile(d, N, 0.25), 10.175, 1e-12);
    near(stats_quantile(d, N, 0.95), 11.83, 1e-12);
    near(stats_quantile(d, N, 0.99), 12.286, 1e-12);
    near(stats_median(d, N), 10.55, 1e-12);
    near(stats_quantile(d, N, 0), 9.7, 0);
    near(stats_quantile(d, N, 1), 12.4, 0);
    near(stats_median(d, 1), 10.2, 0);
    assert_true(isnan(stats_median(d, 0)));
}

TEST(a_middle_mean_leaves_out_the_ends)
{
    const double steps[] = {100, 40, 100, 160, 100}, two[] = {60, 140};
    const double ten[] = {9, 1, 8, 2, 7, 3, 6, 4, 5, 1000};
    near(stats_middle_mean(steps, 5), 100, 1e-12);
    near(stats_middle_mean(steps, 3), 100, 1e-12);
    near(stats_middle_mean(two, 2), 100, 1e-12);
    near(stats_middle_mean(ten, 10), 5.5, 1e-12);
    assert_true(isnan(stats_middle_mean(ten, 0)));
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Against sorting, on data of every kind: few values, many values, sorted, reversed, equal. */
TEST(selection_agrees_with_sorting)
{
    struct rng rng;
    rng_seed(&rng, 5);
    for (int round = 0; round < 400; round++) {
        size_t n = 1 + (size_t)rng_below(&rng, 300), distinct = 1 + (size_t)rng_below(&rng, 2 * n);
        double x[300], sorted[300];
        for (size_t i = 0; i < n; i++)
            sorted[i] = x[i] = (double)rng_below(&rng, distinct);
        qsort(sorted, n, sizeof *sorted, by_value);
        if (round % 4 == 1)
            memcpy(x, sorted, n * sizeof *x);
        for (size_t i = 0; round % 4 == 2 && i < n; i++)
            x[i] = sorted[n - 1 - i];
        size_t k = (size_t)rng_below(&rng, n);
        near(stats_quantile(x, n, n > 1 ? (double)k / (double)(n - 1) : 0), sorted[k],
             1e-9 * (double)distinct);
    }
}

/* scipy.stats.quantile_test(x, q=…, p=.5).confidence_interval(level), x = 1 … n, and
 * 1 - 2 * scipy.stats.binom.cdf(k - 1, n, .5) with k the lower rank */
TEST(median_intervals_are_order_statistics)
{
    static const struct {
        size_t n;
        double level, lo, hi, coverage;
    } cases[] = {
        {20, 0.95, 6, 15, 0.9586105346679688},
        {20, 0.99, 4, 17, 0.9974231719970703},
        {50, 0.95, 18, 33, 0.9671608624357315},
        {50, 0.99, 16, 35, 0.9933995520331891},
        {100, 0.95, 40, 61, 0.9647997997822951},
        {1000, 0.95, 469, 532, 0.9537088026395019},
        {1000, 0.99, 459, 542, 0.9913600509977395},
        {5000, 0.95, 2431, 2570, 0.9506841418958285},
        {9, 0.95, 2, 8, 0.9609375},
        {6, 0.95, 1, 6, 0.96875},
        {5, 0.95, 1, 5, 0.9375}, /* none reaches it */
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double *x = xmalloc(cases[c].n * sizeof *x);
        for (size_t i = 0; i < cases[c].n; i++) /* 7 shares no factor with any n: a permutation */
            x[i * 7 % cases[c].n] = (double)i + 1;
        struct interval ci = stats_median_ci(x, cases[c].n, cases[c].level);
        near(ci.lo, cases[c].lo, 0);
        near(ci.hi, cases[c].hi, 0);
        near(ci.coverage, cases[c].coverage, 1e-9);
        free(x);
    }
    struct interval ci = stats_median_ci(d, N, 0.95);
    near(ci.lo, 10.2, 0);
    near(ci.hi, 11.0, 0);
    assert_true(isnan(stats_median_ci(d, 0, 0.95).lo));
    near(stats_median_ci(d, 1, 0.95).hi, 10.2, 0);
}

TEST(warmup_is_found_and_not_invented)
{
    struct rng rng;
    double x[60];
    rng_seed(&rng, 11);
    int invented = 0, exact = 0, missed = 0;
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < 60; i++)
            x[i] = 100 + rng_normal(&rng);
        invented += stats_warmup(x, 60, WARMUP_IMPORTED(60)) > 0;
        for (size_t i = 0; i < 7; i++)
            x[i] += 20;
        size_t warm = stats_warmup(x, 60, WARMUP_IMPORTED(60));
        if (warm)
            assert_in_range(warm, 7, 12);
        exact += warm == 7;
        missed += warm == 0;
    }
    if (exact < 120)
        fail_msg("7 values of warm-up were found in %d of 200 series", exact);
    if (missed > 40) /* MSER would have dropped more than a fifth */
        fail_msg("7 values of warm-up were missed in %d of 200 series", missed);
    if (invented > 10)
        fail_msg("warm-up in %d of 200 series of noise alone", invented);
    for (size_t i = 0; i < 60; i++)
        x[i] = i < 40 ? 120 : 100;
    assert_int_equal(stats_warmup(x, 60, WARMUP_IMPORTED(60)), 0);
    for (size_t i = 0; i < 60; i++)
        x[i] = (i < 13 ? 120 : 100) + 0.01 * (double)(i % 3);
    assert_int_equal(stats_warmup(x, 60, WARMUP_IMPORTED(60)), 0); /* more than a fifth */
    assert_int_equal(stats_warmup(x, 60, WARMUP_OWN(60)), 13);
    x[12] = 100;
    assert_int_equal(stats_warmup(x, 60, WARMUP_IMPORTED(60)), 12); /* a fifth */
    for (size_t i = 0; i < 7; i++)
        x[i] = 100.0 - (double)i;
    assert_int_equal(stats_warmup(x, 7, WARMUP_OWN(7)), 0); /* too few to say */
    for (size_t i = 0; i < 60; i++)
        x[i] = i < 2 ? 9 : 5;
    assert_int_equal(stats_warmup(x, 60, WARMUP_OWN(60)), 2); /* of equally good, the shortest */
    for (size_t i = 0; i < 60; i++)
        x[i] = 5;
    assert_int_equal(stats_warmup(x, 60, WARMUP_IMPORTED(60)), 0);
}

TEST(a_change_of_level_is_found_and_not_invented)
{
    struct rng rng;
    double x[50];
    rng_seed(&rng, 12);
    int invented = 0;
    for (int round = 0; round < 1000; round++) {
        for (size_t i = 0; i < 50; i++)
            x[i] = 100 + rng_normal(&rng);
        invented += stats_change(x, 20).at > 0;
        for (size_t i = 0; i < 10 + (size_t)round % 30; i++)
            x[i] += 20;
        assert_int_equal(stats_change(x, 50).at, 10 + (size_t)round % 30);
    }
    if (invented > 10)
        fail_msg("a change in %d of 1000 series of noise alone", invented);
    for (size_t i = 0; i < 50; i++)
        x[i] = i < 40 ? 9.7 : 7.6;
    struct change c = stats_change(x, 50);
    assert_int_equal(c.at, 40);
    near(c.before, 9.7, 0);
    near(c.after, 7.6, 0);
    assert_int_equal(stats_change(x + 31, 19).at, 0); /* too few to say */
    assert_int_equal(stats_change(x, 40).at, 0);
    assert_int_equal(stats_change(x, 0).at, 0);
}

/* scipy.stats.bootstrap((d,), numpy.median, method='percentile', n_resamples=999999): 10.2, 10.95
 */
TEST(one_launch_is_the_plain_bootstrap)
{
    struct nested x[N];
    struct rng rng;
    for (size_t i = 0; i < N; i++)
        x[i] = (struct nested){.launch = 1, .value = d[i]};
    rng_seed(&rng, 1);
    struct interval median = stats_bootstrap_median(x, N, 100000, 0.95, &rng);
    near(median.lo, 10.2, 0.051);
    near(median.hi, 10.95, 0.051);
    near(stats_launch_mean(x, N), 10.66, 1e-12);
}

/* numpy.random.default_rng(7), 400,000 draws of 3 of the 3 launches and of 4 of the 4 values of
 * each: numpy.quantile(…, [.025, .975]) is 11.0, 15.5 for the median of all */
TEST(launches_are_drawn_before_blocks)
{
    struct nested x[12];
    static const double first[] = {10, 14, 11};
    struct rng rng;
    for (int i = 0; i < 12; i++)
        x[i] = (struct nested){.launch = i / 4 + 1, .value = first[i / 4] + i % 4};
    rng_seed(&rng, 2);
    struct interval median = stats_bootstrap_median(x, 12, 100000, 0.95, &rng);
    near(median.lo, 11.0, 0.01);
    near(median.hi, 15.5, 0.01);
    near(stats_launch_mean(x, 12), (11.5 + 15.5 + 12.5) / 3, 1e-12);
    near(stats_launch_mean(x, 5), (11.5 + 14) / 2, 1e-12); /* launches count alike */
}
