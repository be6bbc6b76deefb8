/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/order.h"

#include "common/rng.h"

/* Random streams of a launch: 0 for the order of groups, 1 for the plugin's seed, from 2 up one for
 * each pair of blocks, from the top down one for each group's preparation order. */
enum { STREAM_GROUPS, STREAM_PLUGIN, STREAM_BLOCKS };
#define STREAM_PREPARED(group) (UINT64_MAX - (group))
#define PAIRS_MAX (UINT64_C(1) << 32)

static void launch_stream(struct rng *rng, uint64_t seed, int launch, uint64_t stream)
{
    struct rng of_launch;
    rng_stream(&of_launch, seed, (uint64_t)launch);
    rng_stream(rng, rng_next(&of_launch), stream);
}

static void shuffled(size_t *order, size_t n, struct rng *rng)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    rng_shuffle(rng, order, n);
}

void order_groups(size_t *order, size_t n, uint64_t seed, int launch)
{
    struct rng rng;
    launch_stream(&rng, seed, launch, STREAM_GROUPS);
    shuffled(order, n, &rng);
}

void order_prepared(size_t *order, size_t n, uint64_t seed, int launch, size_t group)
{
    struct rng rng;
    launch_stream(&rng, seed, launch, STREAM_PREPARED(group));
    shuffled(order, n, &rng);
}

void order_visits(size_t *order, size_t n, uint64_t seed, int launch, size_t group, int block)
{
    struct rng rng;
    uint64_t pair = (uint64_t)(block - 1) / 2;
    launch_stream(&rng, seed, launch, STREAM_BLOCKS + group * PAIRS_MAX + pair);
    shuffled(order, n, &rng);
    if (block % 2)
        return;
    for (size_t i = 0; i < n / 2; i++) {
        size_t swap = order[i];
        order[i] = order[n - 1 - i];
        order[n - 1 - i] = swap;
    }
}

uint64_t order_launch_seed(uint64_t seed, int launch)
{
    struct rng rng;
    launch_stream(&rng, seed, launch, STREAM_PLUGIN);
    return rng_next(&rng);
}
