/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sketch.h"
#include "base/stats.h"
#include "base/text.h"
#include "common/rng.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

enum { QUANTILES = 200 }; /* steps from 0 to 1 */

static void compare(size_t n, double tolerance)
{
    struct rng rng;
    struct sketch s = {0};
    double *x = xmalloc(n * sizeof *x);
    rng_seed(&rng, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t v = (uint64_t)(2e6 * exp(0.4 * rng_normal(&rng)));
        v = i % 97 == 0 ? v * 50 : v; /* outliers, octaves away */
        x[i] = (double)v;
        sketch_add(&s, v);
    }
    assert_int_equal(s.n, n);
    for (int i = 0; i <= QUANTILES; i++) {
        double p = (double)i / QUANTILES;
        double want = stats_quantile(x, n, p), got = sketch_quantile(&s, p);
        if (!(fabs(got - want) <= tolerance * want))
            fail_msg("n %zu, quantile %g: got %.17g, want %.17g", n, p, got, want);
    }
    free(x);
    sketch_free(&s);
}

TEST(few_values_are_exact)
{
    for (size_t n = 1; n < 30; n++)
        compare(n, 1e-15);
    compare(SKETCH_EXACT, 1e-15);
}

TEST(many_values_are_within_the_bound)
{
    compare(SKETCH_EXACT + 1, 0x1p-13);
    compare(200000, 0x1p-13);
}

TEST(small_and_huge_values_have_buckets)
{
    struct sketch s = {0};
    for (int i = 0; i < 3000; i++) {
        sketch_add(&s, 0);
        sketch_add(&s, 3);
        sketch_add(&s, UINT64_MAX);
    }
    assert_true(sketch_quantile(&s, 0) == 0);
    assert_true(sketch_quantile(&s, 0.5) == 3);
    assert_true(sketch_quantile(&s, 1) == (double)UINT64_MAX);
    sketch_free(&s);
    assert_true(isnan(sketch_quantile(&s, 0.5)));
}

TEST(order_does_not_matter)
{
    struct sketch up = {0}, down = {0};
    for (uint64_t i = 1; i <= 10000; i++) {
        sketch_add(&up, i * 1000);
        sketch_add(&down, (10001 - i) * 1000);
    }
    for (int i = 0; i <= 8; i++)
        assert_true(sketch_quantile(&up, i / 8.0) == sketch_quantile(&down, i / 8.0));
    sketch_free(&up);
    sketch_free(&down);
}
