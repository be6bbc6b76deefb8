/* SPDX-License-Identifier: Apache-2.0
 *
 * How to wait for MPI, which makes progress only inside its calls. At first poll again at once, for
 * events that come soon; later pause between polls, so that other processes can run. A pause is a
 * small fraction of the wait so far, so it adds only that fraction to the wait.
 */
#pragma once

#include "common/clock.h"

#include <sched.h>

#define PATIENCE_EAGER_NS 50000
#define PATIENCE_LEAST_NS 20000
#define PATIENCE_MOST_NS 500000
#define PATIENCE_PART 64

/* Call it between two polls. The first poll was at `since`, the last may be at `end`. */
static inline void patience(uint64_t since, uint64_t end)
{
    uint64_t now = now_ns();
    if (now - since < PATIENCE_EAGER_NS || now >= end) {
        sched_yield();
        return;
    }
    uint64_t ns = (now - since) / PATIENCE_PART;
    ns = ns < PATIENCE_LEAST_NS ? PATIENCE_LEAST_NS : ns;
    ns = ns < PATIENCE_MOST_NS ? ns : PATIENCE_MOST_NS;
    ns = end - now < ns ? end - now : ns;
    nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}
