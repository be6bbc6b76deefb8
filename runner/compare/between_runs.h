/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares two runs, or two folders of runs: the cells that both have (same workload, label, config,
 * mode, size and parameters), B with A, by the logarithms of their block medians. They share no
 * block, so launches are compared with launches, and the ratio contains every difference between the
 * two days or machines; the reason names the known ones. The floor is the sum of both runs' A/A
 * floors in the cell's group and mode. If one of them has none, the verdict is inconclusive. If a
 * folder measured a cell in several runs, the latest counts.
 */
#pragma once

#include "compare/compare.h"
#include "compare/origin.h"

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
int run_set_read(struct run_set *s, const char *root);
void run_set_free(struct run_set *s);
