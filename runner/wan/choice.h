/* SPDX-License-Identifier: Apache-2.0
 *
 * What to set for a training on a map: the order of the ring, the strategy, the wire, H, P and tau of
 * [wan_sync], and the settings of other programs that follow from the links.
 */
#pragma once

#include "wan/advice.h"

struct wan_choice {
    struct wan_training training; /* with fragments and overlap as chosen */
    struct wan_case plan;
    struct wan_outcome outcome;
    double target;   /* share of compute to reach: the highest of targets */
    double ring_s;   /* a ring in the order of [sites] */
    double order_s;  /* and in the best order */
    int64_t streams; /* to each peer */
};

/* Sets m->order if another order of the ring is faster than that of [sites]. Data parallelism with
 * 16 bits is chosen if it reaches the target. Else 8 fragments that overlap with a step, with as
 * many bits as reach it with H of at most 100. outcome.efficiency < target: nothing reaches it. */
void wan_choice_make(struct wan_choice *c, struct wan_map *m, const struct wan_training *t);
void wan_choice_print(const struct wan_choice *c);
