/* SPDX-License-Identifier: Apache-2.0
 *
 * Who is measured when. Pure: the same seed gives the same order on every rank and machine, and an
 * attempt that resumes a launch goes on in the order of the first.
 */
#ifndef GS_ORDER_H
#define GS_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* order[0..n): the groups of a plan as launch `launch` takes them. Every launch has another order:
 * what warms up or drifts with time meets another group each time. */
void order_groups(size_t *order, size_t n, uint64_t seed, int launch);

/* order[0..n): the slots of group `group` as they are prepared. Every launch has another order:
 * what a communicator gains or loses by the place in which it was created is then noise between
 * launches, which the interval holds, and no difference between configs. */
void order_prepared(size_t *order, size_t n, uint64_t seed, int launch, size_t group);

/* order[0..n): the visits of one block (from 1) of group `group`. Odd blocks are drawn, even ones
 * are the mirror of the block before, so that a linear drift cancels over the pair (ABBA). */
void order_visits(size_t *order, size_t n, uint64_t seed, int launch, size_t group, int block);

/* What plugins of this launch draw from; the same on every rank, another one a launch. */
uint64_t order_launch_seed(uint64_t seed, int launch);

#endif
