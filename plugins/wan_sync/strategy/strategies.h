/* SPDX-License-Identifier: Apache-2.0
 *
 * The strategies: each writes the schedule of one member. With S members, D bytes and L a one-way
 * delay (Thakur, Rabenseifner and Gropp 2005; Patarasuk and Yuan 2009):
 *   ring                2(S-1) rounds between neighbours, 2 D (S-1)/S bytes sent
 *   direct              every member sends each other its part, adds, sends the sum: 2 L; with
 *                       shares x_i a member sends D [1 + (S-2) x_i]
 *   recursive_doubling  whole vectors at distance 1, 2, 4 ...: log2 S rounds, D log2 S bytes
 *   rabenseifner        halving, then doubling: 2 log2 S rounds, 2 D (S-1)/S bytes
 * The latter two are made for powers of two: the first 2 (S - 2^k) members fold in pairs before and
 * after. All are right for any S >= 2 and any count, those below S included.
 */
#ifndef STRATEGIES_H
#define STRATEGIES_H

#include "wan_sync/strategy/schedule.h"

struct strategy {
    /* False: no memory. schedule_free() in both cases. */
    bool (*make)(struct schedule *s, const struct schedule_shape *shape);
    /* Roundings between an input and the sum, each of a partial sum: the error of lossy wires is
     * bounded by their sum (wire.h). The number of inputs in all partial sums that were rounded on
     * the way to one element of the sum. */
    double (*rounded)(int members);
};

/* Inside a site, of whose members the first is the leader: the sum of all at the leader, and what
 * the leader has at all. Each member adds, or passes on, its part: the leader sends and receives
 * 2 D (g-1)/g where one message to each would be (g-1) D. The schedules of all of strategies[] have
 * two members at least; these have any number, none to do with one. */
bool strategy_inward(struct schedule *s, const struct schedule_shape *shape);
bool strategy_outward(struct schedule *s, const struct schedule_shape *shape);

/* By the enum wan_strategy of the model, WAN_HIERARCHICAL being a ring of leaders. */
extern const struct strategy strategies[];

#endif
