/* SPDX-License-Identifier: Apache-2.0
 *
 * What a reader must know before using the numbers of a cell: summary.csv and `show` print it
 * beside them.
 *   a launch that changed its level (stats_change): where, and both levels. Nothing is dropped.
 *   T_ss timed over fewer than REMARK_STEADY operations: not yet the steady state
 *   the power cap or another clock throttle was active in most readings of the group: its clocks,
 *   and so its times, are not those of another group
 */
#ifndef GS_REMARKS_H
#define GS_REMARKS_H

#include "base/stats.h"
#include "reduce/gather.h"

#define REMARK_STEADY 16

/* Separated by "; ", "" when there is nothing to say; the caller frees it. */
char *remarks_of(const struct recorded *r, const struct gathered *g, const struct series *s);

/* That of a group alone: whether its clocks were held down; "" or a constant format filled in. */
char *remarks_throttled(const struct gathered *g);

/* The share of the group's GPU readings with a throttle reason; NaN: there are none. */
double gathered_throttled(const struct gathered *g);

/* The change of level in one launch of a series: of n blocks from `first` on. */
struct change series_change(const struct series *s, size_t first, size_t n);

#endif
