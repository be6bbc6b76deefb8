/* SPDX-License-Identifier: Apache-2.0
 *
 * Two runs, or two folders of runs, side by side: the cells that both have (same workload, label,
 * config, mode, size and parameters), B against A, by the logarithms of their block medians. They
 * were never in one block, so each launch stands for itself, and whatever differs between the two
 * days or machines is in the ratio: the reason names what is known to. The floor is the sum of both
 * runs' A/A floors in the cell's group and mode; where either has none, the verdict is
 * inconclusive. Of a cell measured in several runs of a folder the latest counts.
 */
#ifndef GS_VERDICT_SIDES_H
#define GS_VERDICT_SIDES_H

#include "compare/compare.h"
#include "compare/within_run.h"
#include "record/recorded.h"

/* GS_OK or reported; GS_USAGE when they have no cell in common. */
int compare_sides(struct comparison *c, const char *a, const char *b);

/* The cells of a folder of runs with their log-times. */
struct side_cell {
    const struct recorded *r;
    const struct rec_cell *cell;
    const char *origin; /* of the launches in x; of the most of them, where they differ */
    double bound;
    struct values x, aa; /* aa: log-ratios of the copies of its mode's baseline */
    char *note;
};
struct side {
    struct recorded **runs;
    struct origins *origins;
    size_t n_runs;
    struct side_cell *cells;
    size_t n;
};
int side_read(struct side *s, const char *root);
void side_free(struct side *s);

#endif
