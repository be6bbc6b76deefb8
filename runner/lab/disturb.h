/* SPDX-License-Identifier: Apache-2.0
 *
 * What other traffic and bad lines do to one direction between two sites: losses alone or in
 * bursts, jitter, packets that overtake others, and packets of others that take part of the rate.
 * Pure arithmetic with random numbers of the lab's seed. Times are ns.
 */
#pragma once

#include "common/rng.h"
#include "lab/spec.h"

#include <stdbool.h>

struct disturb {
    const struct lab_way *way;
    double loss; /* of the way, or of a command */
    bool losing; /* the last packet was lost */
    struct rng losses, others;
    double from_ns, to_ns, since_ns; /* jitter at since_ns, and JITTER_STEP_NS later */
    double next_ns;                  /* the next packet of others */
};

void disturb_init(struct disturb *d, const struct lab_way *way, uint64_t seed, size_t index,
                  size_t ways);
/* True: this packet is lost. Bursts as Gilbert: one that follows a lost packet is lost with
 * probability 1 - 1/burst. */
bool disturb_loses(struct disturb *d);
/* The extra delay at that time. It wanders between 0 and jitter, slowly enough to keep the order. */
double disturb_jitter_ns(struct disturb *d, double at_ns);
/* True: this packet goes a longer way, and others overtake it. */
bool disturb_detours(struct disturb *d);
/* True: a packet of others of `bytes` comes at *at_ns, which is not after now_ns. */
bool disturb_others(struct disturb *d, double now_ns, unsigned bytes, double *at_ns);
