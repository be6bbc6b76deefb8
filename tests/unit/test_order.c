/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"
#include "unit.h"

#include <stdbool.h>

#include <string.h>

enum { N = 7 };

static void assert_permutation(const size_t *order, size_t n)
{
    bool seen[64] = {false};
    for (size_t i = 0; i < n; i++) {
        assert_true(order[i] < n);
        assert_false(seen[order[i]]);
        seen[order[i]] = true;
    }
}

TEST(an_order_visits_everything_once)
{
    size_t order[64];
    for (size_t n = 1; n <= 40; n++)
        for (int k = 1; k <= 8; k++) {
            order_groups(order, n, 99, k);
            assert_permutation(order, n);
            order_visits(order, n, 99, 1, 3, k);
            assert_permutation(order, n);
        }
}

TEST(the_same_seed_gives_the_same_order)
{
    size_t a[N], b[N];
    order_groups(a, N, 4, 2);
    order_groups(b, N, 4, 2);
    assert_memory_equal(a, b, sizeof a);
    order_visits(a, N, 4, 2, 1, 5);
    order_visits(b, N, 4, 2, 1, 5);
    assert_memory_equal(a, b, sizeof a);
    assert_true(order_launch_seed(4, 2) == order_launch_seed(4, 2));
}

TEST(seed_launch_group_and_block_each_change_it)
{
    size_t a[40], b[40];
    order_groups(a, 40, 4, 1);
    order_groups(b, 40, 4, 2);
    assert_memory_not_equal(a, b, sizeof a);
    order_groups(b, 40, 5, 1);
    assert_memory_not_equal(a, b, sizeof a);
    order_visits(a, 40, 4, 1, 0, 1);
    const struct {
        uint64_t seed;
        int launch;
        size_t group;
        int block;
    } others[] = {{5, 1, 0, 1}, {4, 2, 0, 1}, {4, 1, 1, 1}, {4, 1, 0, 3}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        order_visits(b, 40, others[i].seed, others[i].launch, others[i].group, others[i].block);
        assert_memory_not_equal(a, b, sizeof a);
    }
    assert_true(order_launch_seed(4, 1) != order_launch_seed(4, 2));
}

TEST(cells_are_prepared_in_another_order_each_launch)
{
    size_t a[40], b[40];
    order_prepared(a, 40, 4, 1, 0);
    assert_permutation(a, 40);
    order_prepared(b, 40, 4, 1, 0);
    assert_memory_equal(a, b, sizeof a);
    order_prepared(b, 40, 5, 1, 0);
    assert_memory_not_equal(a, b, sizeof a);
    order_prepared(b, 40, 4, 2, 0);
    assert_memory_not_equal(a, b, sizeof a);
    order_prepared(b, 40, 4, 1, 1);
    assert_memory_not_equal(a, b, sizeof a);
    order_visits(b, 40, 4, 1, 0, 1);
    assert_memory_not_equal(a, b, sizeof a);
}

TEST(even_blocks_mirror_the_one_before)
{
    for (int block = 1; block < 20; block += 2)
        for (size_t n = 2; n <= N; n++) {
            size_t a[N], b[N];
            order_visits(a, n, 7, 1, 0, block);
            order_visits(b, n, 7, 1, 0, block + 1);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(a[i], b[n - 1 - i]);
        }
}

/* Over many odd blocks each visit stands at each place about as often: 4000 draws of 4, expected
 * 1000 each, standard deviation 27. */
TEST(no_place_is_preferred)
{
    unsigned counts[4][4] = {{0}};
    for (int block = 1; block < 8000; block += 2) {
        size_t order[4];
        order_visits(order, 4, 1, 1, 0, block);
        for (size_t i = 0; i < 4; i++)
            counts[i][order[i]]++;
    }
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            assert_in_range(counts[i][j], 1000 - 5 * 27, 1000 + 5 * 27);
}
