/* SPDX-License-Identifier: Apache-2.0
 *
 * The host's clock: reading it, how fine it is, how long a sample must be because of that, and how
 * far it stands from another node's.
 */
#ifndef GS_CLOCK_H
#define GS_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define CLOCK_NAME "CLOCK_MONOTONIC"

uint64_t clock_now_ns(void);

/* The smallest step seen between readings one after the other, of some thousands: resolution or
 * cost of a reading, whichever is larger. `now` is clock_now_ns; another one in tests. */
uint64_t clock_step_ns(uint64_t (*now)(void));

/* Iterations of the next sample, after one of `iters` took `took_ns`: more while samples are
 * shorter than `target_ns`, never fewer, within [min, max] (max 0: no bound). The result is equal
 * to iters once a sample is long enough. */
unsigned clock_iterations(unsigned iters, uint64_t took_ns, uint64_t target_ns, unsigned min,
                          unsigned max);

/* One question and answer between two clocks: sent and back by the asker's, theirs by the other's.
 */
struct clock_probe {
    uint64_t sent, theirs, back;
};

/* Their clock minus ours, from the probe with the shortest round trip (Cristian 1989): wrong by at
 * most half that round trip, *error_ns. n >= 1. */
int64_t clock_offset_ns(const struct clock_probe *probes, size_t n, uint64_t *error_ns);

#endif
