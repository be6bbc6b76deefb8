/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <limits.h>
#include <time.h>

enum { READINGS = 10000 };

/* Growth is bounded, for a first sample may be wrong by any factor, and aims past the target, for
 * the next one may be a little faster. */
#define GROWTH_MAX 10.0
#define AIM 1.1

uint64_t clock_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double clock_now_s(void)
{
    return (double)clock_now_ns() * 1e-9;
}

uint64_t clock_step_ns(uint64_t (*now)(void))
{
    uint64_t least = UINT64_MAX, before = now();
    for (int i = 0; i < READINGS || least == UINT64_MAX; i++) {
        uint64_t t = now();
        if (t > before && t - before < least)
            least = t - before;
        before = t;
    }
    return least;
}

unsigned clock_iterations(unsigned iters, uint64_t took_ns, uint64_t target_ns, unsigned min,
                          unsigned max)
{
    double want = iters ? iters : 1;
    if (iters && took_ns < target_ns) {
        double growth = took_ns ? AIM * (double)target_ns / (double)took_ns : GROWTH_MAX;
        want = want * (growth < GROWTH_MAX ? growth : GROWTH_MAX) + 1;
    }
    if (want < min)
        want = min;
    if (max && want > max)
        want = max;
    return want < INT_MAX ? (unsigned)want : INT_MAX;
}

int64_t clock_offset_ns(const struct clock_probe *probes, size_t n, uint64_t *error_ns)
{
    const struct clock_probe *best = probes;
    for (size_t i = 1; i < n; i++)
        if (probes[i].back - probes[i].sent < best->back - best->sent)
            best = &probes[i];
    uint64_t half = (best->back - best->sent) / 2;
    *error_ns = half;
    return (int64_t)(best->theirs - (best->sent + half));
}
