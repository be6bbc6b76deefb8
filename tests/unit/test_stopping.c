/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/stopping.h"
#include "unit.h"

static const struct set_measure set = {
    .blocks = 8, .max_blocks = 20, .precision = 0.01, .budget = 10};

static struct slot slot_of(double *medians, size_t n)
{
    return (struct slot){.live = true, .medians = medians, .blocks = n};
}

/* With 8 blocks the interval that covers 95 % is (x(1), x(8)) with 1 - 2/2^8 = 99.2 %: (x(2), x(7))
 * covers 1 - 18/2^8 = 93 %. */
TEST(the_half_width_is_that_of_the_order_statistics)
{
    double x[] = {100.4, 100, 99.6, 100.2, 99.8, 100.1, 99.9, 100};
    struct slot s = slot_of(x, 8);
    stopping_judge(&set, &s, 1);
    assert_true(s.half_width > 0.00399 && s.half_width < 0.00401);
    assert_true(s.converged);
    x[5] = 103;
    stopping_judge(&set, &s, 1);
    assert_true(s.half_width > 0.01699 && s.half_width < 0.01701);
    assert_false(s.converged);
}

TEST(five_blocks_are_too_few_for_95_percent)
{
    double x[] = {100, 100, 100, 100, 100, 100};
    struct slot s = slot_of(x, 5);
    stopping_judge(&set, &s, 1);
    assert_false(s.converged); /* 1 - 2/2^5 = 93.75 % */
    s = slot_of(x, 6);
    stopping_judge(&set, &s, 1);
    assert_true(s.converged);
}

TEST(what_looks_like_warm_up_is_left_out)
{
    double x[20] = {150, 150, 150, 150};
    for (size_t i = 4; i < 20; i++)
        x[i] = i % 2 ? 100.1 : 99.9;
    struct slot s = slot_of(x, 20);
    stopping_judge(&set, &s, 1);
    assert_true(s.converged);
    assert_true(s.half_width < 0.002);
}

TEST(it_is_enough_when_all_that_live_have_converged)
{
    struct slot s[] = {{.live = true, .converged = true}, {.live = true}, {.live = false}};
    assert_false(stopping_enough(&set, s, 3, 8, 1));
    s[1].converged = true;
    assert_true(stopping_enough(&set, s, 3, 8, 1));
    assert_false(stopping_enough(&set, s, 3, 7, 1)); /* fewer than `blocks` */
}

TEST(the_budget_ends_it_but_not_before_three_blocks)
{
    struct slot s = {.live = true};
    assert_false(stopping_enough(&set, &s, 1, 5, 9.9));
    assert_true(stopping_enough(&set, &s, 1, 5, 10));
    assert_true(stopping_enough(&set, &s, 1, 3, 10));
    assert_false(stopping_enough(&set, &s, 1, 2, 1000));
}

TEST(max_blocks_end_it)
{
    struct slot s = {.live = true};
    assert_false(stopping_enough(&set, &s, 1, 19, 0));
    assert_true(stopping_enough(&set, &s, 1, 20, 0));
}
