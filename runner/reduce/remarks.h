/* SPDX-License-Identifier: Apache-2.0
 *
 * What a reader must know before using the numbers of a cell; summary.csv and `show` print it.
 *   launches were left out (launches.h), and why
 *   a launch changed its level (stats_change): where, and both levels; its blocks all count
 *   T_ss was timed over fewer than REMARK_STEADY operations: not yet the steady state
 *   the power cap or another clock throttle was active in most readings of the group: its clocks,
 *   and so its times, differ from those of other groups
 */
#pragma once

#include "base/stats.h"
#include "reduce/gather.h"

#define REMARK_STEADY 16

/* The remarks, separated by "; "; the caller frees it. */
char *remarks_of(const struct recorded *r, const struct gathered *g, const struct series *s);

/* The remark on clocks alone; the caller frees it. */
char *remarks_throttled(const struct gathered *g);

/* The share of the group's GPU readings with a throttle reason; NaN: no readings. */
double gathered_throttled(const struct gathered *g);

/* The change of level in the launch of n blocks from `first` on. */
struct change series_change(const struct series *s, size_t first, size_t n);
