/* SPDX-License-Identifier: Apache-2.0
 *
 * tuner_calls PLUGIN CALLS   prints what the plugin costs per collective, in ns, as the environment
 * configures it: the tuner's answer and the profiler's events, for the calls of a DDP step of five
 * buckets, less the cost of the loop without a plugin. The longest single call follows, in us.
 */
#include "../tuner/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A call; sizes as those of a step. */
static bool one(struct host_comm *c, long i)
{
    struct ran ran;
    return host_call(c, NCCL_ALL_REDUCE, i % 5 ? (size_t)25 << 20 : (size_t)1 << 20, &ran);
}

static double each_ns(struct host_comm *c, long calls)
{
    double start = now_ns();
    for (long i = 0; i < calls; i++)
        if (!one(c, i))
            exit(1);
    return (now_ns() - start) / (double)calls;
}

static double longest_us(struct host_comm *c, long calls)
{
    double longest = 0;
    for (long i = 0; i < calls; i++) {
        double start = now_ns();
        one(c, i);
        double took = now_ns() - start;
        longest = took > longest ? took : longest;
    }
    return longest / 1e3;
}

/* A communicator whose other rank has found its step: otherwise a trial does not begin. */
static bool init(struct host_comm *c, const struct host *h, uint64_t id)
{
    struct host_comm partner;
    if (!host_init(c, h, id, 2, 1) || !host_init(&partner, h, id, 2, 1))
        return false;
    for (long i = 0; i < 200; i++)
        if (!one(&partner, i))
            return false;
    return true;
}

int main(int argc, char **argv)
{
    struct host h;
    struct host_comm c = {0}, none = {0}, other;
    if (argc != 3 || !host_load(&h, argv[1], 6) || !host_load_profiler(&h, argv[1], 5) ||
        !init(&c, &h, 1))
        return 2;
    long calls = atol(argv[2]);
    double with = each_ns(&c, calls), without = each_ns(&none, calls);
    if (!init(&other, &h, 2))
        return 2;
    printf("%.1f %.0f\n", with - without, longest_us(&other, calls / 10));
    host_finalize(&c);
    host_finalize(&other);
    return 0;
}
