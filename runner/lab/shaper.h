/* SPDX-License-Identifier: Apache-2.0
 *
 * A link of a given rate behind a drop-tail queue, as pure arithmetic. A packet leaves when the link
 * has sent all earlier bytes. The result does not depend on when it is computed, so a delay of the
 * relay for one packet does not delay the next. Times are ns of one clock, as doubles, which are
 * exact for a hundred days.
 */
#pragma once

#include <stdbool.h>

struct shaper {
    double ns_per_B; /* 0: no limit */
    double queue_B;
    double free_ns; /* when the last bit of all accepted packets has left */
};

/* The passage of one packet through several links in a row. Bits are forwarded as they arrive: a
 * second link of the same rate adds no transmission time. */
struct passage {
    double last_ns; /* when its last bit arrived at the current link */
    double long_ns; /* its duration from first to last bit, set by the slowest link so far */
};

void shaper_set(struct shaper *s, double rate_Bps, double queue_B);
/* False: the queue is full, and the packet is dropped. */
bool shaper_pass(struct shaper *s, unsigned bytes, struct passage *p);
