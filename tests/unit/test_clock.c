/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "unit.h"

#include <limits.h>

TEST(it_never_goes_back)
{
    uint64_t before = clock_now_ns();
    assert_true(before > 0);
    for (int i = 0; i < 1000; i++) {
        uint64_t now = clock_now_ns();
        assert_true(now >= before);
        before = now;
    }
}

/* A clock that stands still for three readings, then moves by 250 ns; once by much more. */
static uint64_t coarse(void)
{
    static uint64_t reads;
    reads++;
    return reads / 4 * 250 + (reads > 5000 ? 1000000 : 0);
}

TEST(the_step_of_a_coarse_clock_is_found)
{
    assert_int_equal(clock_step_ns(coarse), 250);
}

TEST(the_step_of_this_clock_is_a_step)
{
    uint64_t step = clock_step_ns(clock_now_ns);
    assert_true(step > 0);
}

TEST(iterations_grow_until_the_sample_is_long_enough)
{
    const uint64_t each_ns = 37, target_ns = 25000;
    unsigned iters = clock_iterations(0, 0, target_ns, 0, 0);
    assert_int_equal(iters, 1);
    for (int i = 0; i < 6; i++)
        iters = clock_iterations(iters, iters * each_ns, target_ns, 0, 0);
    assert_true(iters * each_ns >= target_ns);
    assert_true(iters * each_ns < 2 * target_ns);
    assert_int_equal(clock_iterations(iters, iters * each_ns, target_ns, 0, 0), iters);
}

TEST(iterations_stay_within_bounds)
{
    assert_int_equal(clock_iterations(0, 0, 1000, 16, 0), 16);
    assert_int_equal(clock_iterations(16, 10, 1000, 16, 64), 64);
    assert_int_equal(clock_iterations(64, 40, 1000, 16, 64), 64);
    assert_int_equal(clock_iterations(1, 0, 1000, 1, 1), 1);
    assert_true(clock_iterations(8, 0, 1000, 0, 0) > 8); /* shorter than the clock can see */
    assert_int_equal(clock_iterations(INT_MAX, 1, 1000, 0, 0), INT_MAX);
    assert_int_equal(clock_iterations(5, 2000, 1000, 0, 0), 5); /* never fewer */
}

TEST(an_offset_is_that_of_the_fastest_answer)
{
    /* Their clock is 5000 ns ahead; ways there and back of 10/10, 300/20 and 15/400 ns. */
    const struct clock_probe probes[] = {
        {1000, 6300, 1320}, {2000, 7010, 2020}, {3000, 8015, 3415}};
    uint64_t error_ns;
    assert_int_equal(clock_offset_ns(probes, 3, &error_ns), 5000);
    assert_int_equal(error_ns, 10);
}

TEST(an_offset_may_be_negative_and_is_off_by_half_a_round_trip_at_most)
{
    /* Their clock is 5000 behind; 90 ns there, 10 back. */
    const struct clock_probe probe = {10000, 5090, 10100};
    uint64_t error_ns;
    int64_t offset = clock_offset_ns(&probe, 1, &error_ns);
    assert_int_equal(error_ns, 50);
    assert_true(offset >= -5000 - 50 && offset <= -5000 + 50);
}
