/* SPDX-License-Identifier: Apache-2.0
 *
 * A line of a given rate with a drop-tail queue in front, as arithmetic: a packet leaves when the
 * line has sent all that came before it, to the byte, whenever somebody looks. So a relay that is
 * late for one packet is not late for the next. Pure. Times: ns on one clock, as doubles, which
 * hold ns exactly for a hundred days.
 */
#ifndef GS_LAB_SHAPER_H
#define GS_LAB_SHAPER_H

#include <stdbool.h>

struct shaper {
    double ns_per_B; /* 0: no limit */
    double queue_B;
    double free_ns; /* when the last bit of all that it took has left */
};

/* The passage of one packet through lines one behind the other. Bits flow on as they come: behind
 * a line of the same rate a packet waits for no second time. */
struct passage {
    double last_ns; /* when its last bit is where it is now */
    double long_ns; /* from its first bit to its last, by the slowest line so far */
};

void shaper_set(struct shaper *s, double rate_Bps, double queue_B);
/* False: more than queue_B waits already, and the packet is dropped. */
bool shaper_pass(struct shaper *s, unsigned bytes, struct passage *p);

#endif
