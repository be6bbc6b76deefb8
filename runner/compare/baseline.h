/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside a group of a run: the config that the other configs of a mode are compared with, and the
 * blocks that two series share.
 */
#pragma once

#include "compare/compare.h"
#include "compare/origin.h"
#include "reduce/gather.h"

/* A launch with fewer blocks is left out, unless the config asks for so few. */
#define BASELINE_BLOCKS 3

/* The settings of a run that a comparison needs. */
struct compare_rules {
    double equivalence;
    int64_t blocks; /* that the config asks for in a launch; 1 for an import */
    char baseline[WL_TEXT_MAX];
    const char *wanted; /* the config to compare with instead; NULL: the run's own baseline */
};
/* GS_OK or reported. */
int compare_rules_read(struct compare_rules *out, const struct recorded *r);

/* Drops launches with too few blocks from x. Notes these, and launches with less than half of the
 * blocks that the config asks for: an early end of the budget makes the mean of a launch noisier,
 * which the spread of the launches shows, but not wrong. */
void values_drop_short(struct values *x, int64_t blocks, struct contrast *c);

struct group_pass {
    struct comparison *c;
    const struct recorded *r;
    const struct origins *origins;
    const struct compare_rules *rules;
    size_t group;
    const struct gathered *g;
    const char *best_of; /* a mode, or NULL */
};

const char *group_config(const struct group_pass *p, const struct series *s);
const char *group_mode(const struct group_pass *p, const struct series *s);

/* Adds log(b / a) of each block of this origin that has both a and b.
 *
 * A block of a trial visits its baseline twice. Then the time is the mean of the logarithms of both
 * visits, as in trial/trial_result.c; but not if a and b are the two copies. The A/A floor is copy 1
 * against copy 0 everywhere. For a mean of two copies it is too large rather than too small: a visit
 * against another has 4/3 of the variance of a visit against the mean of two, and a lasting
 * difference between the copies is half as large from their mean. */
void group_pairs(const struct group_pass *p, const struct series *a, const struct series *b,
                 size_t origin, struct values *out);

/* The baseline of the mode: the config with a second copy, else the one that the config file names,
 * else the first. NULL: none, as for cells that do not depend on the config. */
const struct series *baseline_of_mode(const struct group_pass *p, const char *mode);

/* The config to compare with: the wanted one, or the baseline; with best_of, the config that is
 * fastest in that mode. NULL: none, or `mode` is best_of. */
const struct series *baseline_or_best(const struct group_pass *p, const char *mode);
