/* SPDX-License-Identifier: Apache-2.0
 *
 * What is left out of the statistics of a group, for all of its configs alike: the warm-up at the
 * start of each launch, and whole launches. Both are judged by the baseline alone, never by a config
 * that is compared with it: a rule that looks at each config selects the blocks that suit it.
 *
 * Warm-up (stats_warmup) is found in the mean of the baselines of all modes and of both copies, by
 * block. An import has one config a group, which is judged by itself.
 *
 * A launch is left out if other programs disturbed it (record/host_load.h), or if a baseline of the
 * group is far from the others: its median differs from the median of the other launches by more than
 * 10%, and by more than ten times their scaled median absolute deviation. At least three others must
 * be there. Launches are left out only while they are less than half of those of the group: where half
 * of them are disturbed, nothing says which half is right.
 */
#pragma once

#include "reduce/series.h"

#define LAUNCH_FAR 0.10
#define LAUNCH_DEVIATIONS 10
#define LAUNCH_OTHERS 3

/* Is a value far from the n others? For the simulation, too. */
bool launches_far(double median, const double *others, size_t n);

void launches_mark_warmup(const struct recorded *r, struct gathered *g);
/* Fills g->out. */
void launches_judge(const struct recorded *r, struct gathered *g);

/* "launch 1 left out: ...; launch 3 left out: ..."; the caller frees it. "": none. */
char *launches_out_text(const struct gathered *g);
