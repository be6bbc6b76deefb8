/* SPDX-License-Identifier: Apache-2.0
 *
 * A prepared cell of a group. The baseline of a comparison has two slots, copies 0 and 1, so that it
 * can be compared with itself (A/A). Each copy is prepared separately, and the plugin knows which
 * copy it prepares: a shared communicator would hide the difference between two communicators.
 */
#pragma once

#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One visit, reduced over the ranks. Only rank 0 has `metrics`; the rest is the same everywhere. */
struct visited {
    double at; /* start, Unix seconds */
    size_t n;
    uint64_t *time_ns; /* per sample: all its iterations, on the slowest rank (or the span) */
    uint64_t skew_ns, spread_ns;
    double metrics[WL_METRICS_MAX]; /* medians; [0] is the time of one iteration, in s */
    double *each; /* [metric * ranks + rank], for WL_EACH: means over the samples; NULL: none */
};

struct slot {
    const struct cell *cell;
    int copy;
    void *prepared;     /* NULL: not prepared here */
    bool live;          /* prepared and not failed; the same on every rank */
    bool lost;          /* dropped, because a copy of its cell failed */
    bool told;          /* its cell line is written */
    size_t prepared_as; /* position, from 1, in the group's preparation order */
    unsigned iters;     /* in one sample */
    uint64_t operations;
    char why[256]; /* this rank's reason for a failure */
    struct visited visited;
    double *medians; /* s, one per block */
    size_t blocks;
    double half_width; /* of the median's interval, relative; 0: unknown */
    bool converged;
};
