/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides when a group has enough blocks. Pure functions.
 */
#pragma once

#include "rank/slot.h"

/* Sets half_width and converged of every live slot. A slot has converged if the 95% order-statistic
 * interval of its block median, without blocks that look like warm-up, has a half-width of at most
 * `precision` of the median. With too few blocks for an interval it has not. */
void stopping_judge(const struct set_measure *set, struct slot *slots, size_t n);

/* True after the last block: all live slots converged after at least `blocks`; or the budget is spent
 * and there are SET_LEAST_BLOCKS blocks; or max_blocks is reached; or no slot is live. */
bool stopping_enough(const struct set_measure *set, const struct slot *slots, size_t n, int block,
                     double spent_s);

/* The largest half_width of the live slots, for progress; 0: unknown. */
double stopping_half_width(const struct slot *slots, size_t n);
