/* SPDX-License-Identifier: Apache-2.0
 *
 * The contrasts inside a run. In every group and mode, each config is compared with the baseline by
 * the logarithm of the ratio of their block medians, copy 0 with copy 0 in the same block. Warm-up
 * blocks and launches with too few blocks (baseline.h) are left out.
 */
#pragma once

#include "compare/compare.h"
#include "reduce/gather.h"

/* Adds the contrasts of a run, whose groups are gathered. With best_of, a mode, they are those of the other modes
 * against the config that is fastest in best_of; that config is chosen by its effects there, which
 * are not the effects under test. With baseline, a config, they are against that config, where it
 * was measured. Either may be NULL. GS_OK or reported. */
int compare_recorded(struct comparison *c, const struct recorded *r, const struct gathered *groups,
                     const char *best_of, const char *baseline);
/* The same of a run folder. */
int compare_within_run(struct comparison *c, const char *dir, const char *best_of,
                       const char *baseline);
