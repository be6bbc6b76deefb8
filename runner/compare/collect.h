/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns recordings into contrasts: inside a run, inside an imported run, and between two runs.
 *
 * Inside a run, each config of a group and mode is compared with the baseline by the logarithm of the
 * ratio of their block medians, copy 0 with copy 0 in the same block. Warm-up blocks and launches with
 * too few blocks are left out.
 *
 * Two runs, or two folders of runs: the cells that both have (same workload, label, config, mode, size
 * and parameters), B with A, by the logarithms of their block medians. They share no block, so launches
 * are compared with launches, and the ratio contains every difference between the two days or machines;
 * the reason names the known ones. The floor is the sum of both runs' A/A floors in the cell's group and
 * mode. If one of them has none, the verdict is inconclusive. If a folder measured a cell in several
 * runs, the latest counts.
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

/* Adds log(b / a) of each block of this origin that has both a and b.
 *
 * A block of a trial visits its baseline twice. Then the time is the mean of the logarithms of both
 * visits, as in job/trial_result.c; but not if a and b are the two copies. The A/A floor is copy 1
 * against copy 0 everywhere. For a mean of two copies it is too large rather than too small: a visit
 * against another has 4/3 of the variance of a visit against the mean of two, and a lasting
 * difference between the copies is half as large from their mean. */
void group_pairs(const struct group_pass *p, const struct series *a, const struct series *b,
                 size_t origin, struct values *out);

/* Adds the contrasts of a run, whose groups are gathered. With best_of, a mode, they are those of the other modes
 * against the config that is fastest in best_of; that config is chosen by its effects there, which
 * are not the effects under test. With baseline, a config, they are against that config, where it
 * was measured. Either may be NULL. GS_OK or reported. */
int compare_recorded(struct comparison *c, const struct recorded *r, const struct gathered *groups,
                     const char *best_of, const char *baseline);
/* The same of a run folder. */
int compare_within_run(struct comparison *c, const char *dir, const char *best_of,
                       const char *baseline);

/* GS_OK or reported; GS_USAGE: they have no cell in common. */
int compare_between_runs(struct comparison *c, const char *a, const char *b);

/* The cells of a folder of runs with their log-times. */
struct set_cell {
    const struct recorded *r;
    const struct rec_cell *cell;
    const char *origin; /* of the launches in x: the origin of most launches */
    double bound;
    struct values x, aa; /* aa: log-ratios of the two copies of its mode's baseline */
    char *note;
};
struct run_set {
    struct recorded **runs;
    struct origins *origins;
    size_t n_runs;
    struct set_cell *cells;
    size_t n;
};
