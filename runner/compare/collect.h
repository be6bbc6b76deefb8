/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns recordings into contrasts: inside a run, inside an imported run, and between two runs.
 *
 * Inside a run, each config of a group and mode is compared with the baseline by the logarithm of the
 * ratio of their block medians, copy 0 with copy 0 in the same block. Warm-up blocks and launches with
 * too few blocks are left out.
 *
 * Two runs: the cells that both have (same workload, label, config, mode, size
 * and parameters), B with A, by the logarithms of their block medians. They share no block, so launches
 * are compared with launches, and the ratio contains every difference between the two days or machines;
 * the reason names the known ones. The floor is the sum of both runs' A/A floors in the cell's group and
 * mode. If one of them has none, the verdict is inconclusive.
 */
#pragma once

#include "compare/origin.h"
#include "compare/verdicts.h"
#include "reduce/gather.h"

/* Drops launches with too few blocks from x. Notes these, and launches with less than half of the
 * blocks that the config asks for: an early end of the budget makes the mean of a launch noisier,
 * which the spread of the launches shows, but not wrong. */
void values_drop_short(struct values *x, int64_t blocks, char **note);

/* Adds the contrasts of a run, whose groups are gathered. With best_of, a mode, they are those of the other modes
 * against the config that is fastest in best_of; that config is chosen by its effects there, which
 * are not the effects under test. With baseline, a config, they are against that config, where it
 * was measured. Either may be NULL. */
void compare_recorded(struct comparison *c, const struct recorded *r, const struct gathered *groups,
                      const char *best_of, const char *baseline);
/* The same of a run folder, without best_of. GS_OK or reported. */
int compare_within_run(struct comparison *c, const char *dir, const char *baseline);

/* GS_OK or reported; GS_USAGE: they have no cell in common. */
int compare_between_runs(struct comparison *c, const char *a, const char *b);
