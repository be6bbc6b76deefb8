/* SPDX-License-Identifier: Apache-2.0 */
#include "common/rng.h"
#include "unit.h"

/* The outputs of the authors' xoshiro256starstar.c from the state {1, 2, 3, 4}, as published with
 * rand_xoshiro 0.6 (src/xoshiro256starstar.rs). */
TEST(outputs_are_the_published_ones)
{
    static const uint64_t want[] = {11520u,
                                    0u,
                                    1509978240u,
                                    1215971899390074240u,
                                    1216172134540287360u,
                                    607988272756665600u,
                                    16172922978634559625u,
                                    8476171486693032832u,
                                    10595114339597558777u,
                                    2904607092377533576u};
    struct rng r = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_true(rng_next(&r) == want[i]);
}

/* The outputs of splitmix64.c for the seed 1477776061723855037, as published with rand_xoshiro 0.6
 * (src/splitmix64.rs). */
TEST(seeding_is_splitmix64)
{
    static const uint64_t want[] = {1985237415132408290u, 2979275885539914483u,
                                    13511426838097143398u, 8488337342461049707u};
    struct rng r;
    rng_seed(&r, 1477776061723855037u);
    assert_memory_equal(r.s, want, sizeof want);
}

/* Multiply-and-shift alone is x -> floor(3x / 4) for n = 3 * 2^62, and so gives multiples of 3
 * twice as often as the others. */
TEST(below_is_unbiased_where_n_is_large)
{
    enum { DRAWS = 30000 };
    const uint64_t n = (uint64_t)3 << 62;
    struct rng r;
    int thirds[3] = {0};
    rng_seed(&r, 10);
    for (int i = 0; i < DRAWS; i++)
        thirds[rng_below(&r, n) % 3]++;
    for (int i = 0; i < 3; i++)
        assert_true(abs(thirds[i] - DRAWS / 3) < 400); /* 5 standard deviations */
}
