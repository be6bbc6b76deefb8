/* SPDX-License-Identifier: Apache-2.0
 *
 * The contrasts inside a run: in every group and mode, each config against the baseline, by the
 * logarithm of the ratio of their block medians, copy 0 against copy 0 in the same block. Warm-up
 * blocks are left out, and launches of fewer than WITHIN_BLOCKS are (unless so few were asked for).
 * Those, and launches of fewer than half of what the config asks for, are named: a budget that
 * ended early makes a launch's mean noisier, which the spread of the launches says, and not wrong.
 */
#ifndef GS_VERDICT_WITHIN_H
#define GS_VERDICT_WITHIN_H

#include "compare/compare.h"
#include "config/settings.h"
#include "reduce/gather.h"

#define WITHIN_BLOCKS 3

/* Adds the contrasts of one run folder. best_of, NULL: none, is a mode of its cells: then the
 * contrasts are those of the other modes, against the config that is fastest in this one. It is
 * chosen by the effects there, which are not those that are tested. GS_OK or reported. */
int compare_within(struct comparison *c, const char *dir, const char *best_of);

/* Of a run's config: what compare needs of it. */
struct rules {
    double equivalence;
    int64_t blocks; /* asked for in a launch; 1 of an import, which asked for none */
    char baseline[WL_TEXT_MAX];
};
int rules_read(struct rules *out, const struct recorded *r);

/* Leaves launches of too few blocks out of x, and notes them and those of few. */
void values_thin(struct values *x, int64_t asked, struct contrast *say);

#endif
