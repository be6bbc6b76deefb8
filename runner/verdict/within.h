/* SPDX-License-Identifier: Apache-2.0
 *
 * The contrasts inside a run: in every group and mode, each config against the baseline, by the
 * logarithm of the ratio of their block medians, copy 0 against copy 0 in the same block. Warm-up
 * blocks are left out, and launches that have fewer than half of the blocks that the config asks
 * for (one, where there is no config) are, and named.
 */
#ifndef GS_VERDICT_WITHIN_H
#define GS_VERDICT_WITHIN_H

#include "compare.h"
#include "gather.h"
#include "settings.h"

/* Adds the contrasts of one run folder. GS_OK or reported. */
int compare_within(struct comparison *c, const char *dir);

/* Of a run's config: what compare needs of it. */
struct rules {
    double equivalence;
    int64_t blocks; /* a launch of fewer is left out */
    char baseline[WL_TEXT_MAX];
};
int rules_read(struct rules *out, const struct recorded *r);

/* Leaves out of x the launches with fewer than `least` blocks. */
void values_thin(struct values *x, int64_t least, struct contrast *say);

#endif
