/* SPDX-License-Identifier: Apache-2.0
 *
 * How to wait for MPI, which moves nothing while nobody calls it: at first ask again at once, for
 * what is near, then with pauses, for what is far and for the sake of others on this processor. A
 * pause is a small part of the wait so far, and delays what is awaited by no more.
 */
#ifndef PATIENCE_H
#define PATIENCE_H

#include "common/clock.h"

#include <sched.h>

#define PATIENCE_EAGER_NS 50000
#define PATIENCE_LEAST_NS 20000
#define PATIENCE_MOST_NS 500000
#define PATIENCE_PART 64

/* Between two questions; the first was asked at `since`, the last may be at `end`. */
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

#endif
