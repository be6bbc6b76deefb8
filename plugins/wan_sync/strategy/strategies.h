/* SPDX-License-Identifier: Apache-2.0
 *
 * The strategies: each writes the schedule of one member. With S members, D bytes and L a one-way
 * delay (Thakur, Rabenseifner and Gropp 2005; Patarasuk and Yuan 2009):
 *   ring     2(S-1) rounds between neighbours, 2 D (S-1)/S bytes sent
 *   direct   every member sends each peer the peer's part, adds what it receives, and
 *            sends the sum to all: 2 L; with shares x_i it sends D [1 + (S-2) x_i]
 *   oneshot  everybody's whole vector to everybody: L, D (S-1) bytes; for small vectors
 * All strategies work for any S >= 2 and any count, also below S.
 */
#pragma once

#include "wan_sync/strategy/schedule.h"

struct strategy {
    /* False: no memory. schedule_free() in both cases. */
    bool (*make)(struct schedule *s, const struct schedule_shape *shape);
    /* Bounds the error of lossy wires (wire.h): the total number of inputs in all partial sums that
     * are rounded on the way to one element of the sum. */
    double (*rounded)(int members);
};

/* Inside a site of g members, the first of which is the leader: inward sums at the leader, outward
 * broadcasts from it. Each member adds, or passes on, its part, so the leader sends and receives
 * 2 D (g-1)/g instead of (g-1) D. Unlike strategies[], which need two members, these take any
 * number; with one member they do nothing. */
bool strategy_inward(struct schedule *s, const struct schedule_shape *shape);
bool strategy_outward(struct schedule *s, const struct schedule_shape *shape);

/* Indexed by enum wan_strategy of the model; WAN_HIERARCHICAL is a ring of leaders. */
extern const struct strategy strategies[];
