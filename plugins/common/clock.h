/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the monotonic clock, which times samples on the host.
 */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static inline double now_s(void)
{
    return (double)now_ns() * 1e-9;
}
