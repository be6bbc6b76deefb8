/* SPDX-License-Identifier: Apache-2.0
 *
 * The host's clock: its resolution, the duration of samples that the resolution requires, and its
 * offset from another node's clock.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CLOCK_NAME "CLOCK_MONOTONIC"

uint64_t clock_now_ns(void);
double clock_now_s(void);

/* The smallest difference between two successive readings, out of some thousands: the resolution or
 * the cost of a reading, whichever is larger. `now` is clock_now_ns, or a fake clock in tests. */
uint64_t clock_step_ns(uint64_t (*now)(void));

/* The iterations of the next sample, after a sample of `iters` took `took_ns`: more if it was
 * shorter than `target_ns`, else the same; within [min, max] (max 0: no limit). */
unsigned clock_iterations(unsigned iters, uint64_t took_ns, uint64_t target_ns, unsigned min,
                          unsigned max);

/* One round trip: `sent` and `back` by the caller's clock, `theirs` by the other's. */
struct clock_probe {
    uint64_t sent, theirs, back;
};

/* Their clock minus ours, from the probe with the shortest round trip (Cristian 1989). *error_ns is
 * the largest possible error, half that round trip. n >= 1. */
int64_t clock_offset_ns(const struct clock_probe *probes, size_t n, uint64_t *error_ns);
