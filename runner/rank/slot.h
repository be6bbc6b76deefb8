/* SPDX-License-Identifier: Apache-2.0
 *
 * A cell as a group visits it. The baseline of a comparison has two slots, copies 0 and 1, so that
 * it is compared with itself (A/A). Each is prepared on its own, and the plugin is told which one
 * it prepares: a communicator shared by the copies would hide how much two communicators differ.
 */
#ifndef GS_SLOT_H
#define GS_SLOT_H

#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One visit, reduced over the ranks; the same on every rank but `metrics`, which rank 0 has. */
struct visited {
    double at; /* Unix seconds, at its begin */
    size_t n;
    uint64_t *time_ns; /* one a sample: all its iterations, the longest rank's (or the span) */
    uint64_t skew_ns, spread_ns;
    double metrics[WL_METRICS_MAX]; /* medians; [0] is the time of one iteration, in s */
};

struct slot {
    const struct cell *cell;
    int copy;
    void *prepared;     /* NULL: not prepared here */
    bool live;          /* the same on every rank: prepared, and nothing of it has failed */
    bool lost;          /* a copy of its cell failed, and the cell with it */
    bool told;          /* its cell line is written */
    size_t prepared_as; /* its place, from 1, in the order in which the group was prepared */
    unsigned iters;     /* in one sample */
    uint64_t operations;
    char why[256]; /* this rank's words about what went wrong */
    struct visited visited;
    double *medians; /* s, one a block */
    size_t blocks;
    double half_width; /* of the median's interval, relative; 0: not yet known */
    bool converged;
};

#endif
