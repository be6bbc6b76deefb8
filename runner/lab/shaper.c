/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/shaper.h"

#include <math.h>

void shaper_set(struct shaper *s, double rate_Bps, double queue_B)
{
    s->ns_per_B = rate_Bps > 0 ? 1e9 / rate_Bps : 0;
    s->queue_B = queue_B;
}

bool shaper_pass(struct shaper *s, unsigned bytes, struct passage *p)
{
    if (s->ns_per_B <= 0)
        return true;
    double takes_ns = bytes * s->ns_per_B;
    /* Behind a slower line it trickles in, and waits for what is before it with its last bits
     * alone. */
    double first = p->last_ns - fmin(p->long_ns, takes_ns);
    double waits_ns = fmax(0, s->free_ns - first);
    if (waits_ns + takes_ns > s->queue_B * s->ns_per_B && waits_ns > 0)
        return false;
    s->free_ns = first + waits_ns + takes_ns;
    p->last_ns = fmax(p->last_ns, s->free_ns);
    p->long_ns = fmax(p->long_ns, takes_ns);
    return true;
}
