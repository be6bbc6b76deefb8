/* SPDX-License-Identifier: Apache-2.0
 *
 * When a group has been visited often enough. Pure.
 */
#ifndef GS_STOPPING_H
#define GS_STOPPING_H

#include "config/settings.h"
#include "rank/slot.h"

/* Fills half_width and converged of every live slot: the order-statistic 95% interval of the median
 * over its blocks, those that still look like warm-up left out, has a half-width of at most
 * `precision` of the median. Fewer blocks than such an interval needs: not converged. */
void stopping_judge(const struct set_measure *set, struct slot *slots, size_t n);

/* True after the last block that is wanted: every live slot converged in `blocks` or more; the
 * budget spent, but not before SET_LEAST_BLOCKS blocks; max_blocks reached; or nothing left alive. */
bool stopping_enough(const struct set_measure *set, const struct slot *slots, size_t n, int block,
                     double spent_s);

/* The widest of the live slots, for progress; 0: not yet known. */
double stopping_half_width(const struct slot *slots, size_t n);

#endif
