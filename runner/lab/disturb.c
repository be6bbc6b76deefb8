/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/disturb.h"

#include <math.h>

#define JITTER_STEP_NS 20e6
#define ASLEEP_NS 100e6 /* what others sent in a longer pause of the sites has left the queues */

void disturb_init(struct disturb *d, const struct lab_way *way, uint64_t seed, size_t index,
                  size_t ways)
{
    *d = (struct disturb){.way = way, .loss = way->loss};
    rng_stream(&d->losses, seed, index);
    rng_stream(&d->others, seed, ways + index);
}

bool disturb_loses(struct disturb *d)
{
    double burst = d->way->burst, chance = d->loss;
    if (chance <= 0)
        return false;
    if (burst > 1)
        chance = d->losing ? 1 - 1 / burst : chance / (burst * (1 - chance));
    d->losing = rng_uniform(&d->losses) < chance;
    return d->losing;
}

double disturb_jitter_ns(struct disturb *d, double at_ns)
{
    double most_ns = d->way->jitter_s * 1e9;
    if (most_ns <= 0)
        return 0;
    double step_ns = fmax(JITTER_STEP_NS, most_ns);
    while (at_ns - d->since_ns >= step_ns) {
        double steps = fmax(floor((at_ns - d->since_ns) / step_ns) - 1, 1);
        d->since_ns += steps * step_ns;
        d->from_ns = d->to_ns;
        d->to_ns = most_ns * rng_uniform(&d->others);
    }
    double part = fmax(0, at_ns - d->since_ns) / step_ns;
    return d->from_ns + part * (d->to_ns - d->from_ns);
}

bool disturb_detours(struct disturb *d)
{
    return d->way->reorder > 0 && rng_uniform(&d->others) < d->way->reorder;
}

bool disturb_others(struct disturb *d, double now_ns, unsigned bytes, double *at_ns)
{
    if (d->way->cross_Bps <= 0)
        return false;
    d->next_ns = fmax(d->next_ns, now_ns - ASLEEP_NS);
    if (d->next_ns > now_ns)
        return false;
    *at_ns = d->next_ns;
    d->next_ns -= log(1 - rng_uniform(&d->others)) * bytes * 1e9 / d->way->cross_Bps;
    return true;
}
