/* SPDX-License-Identifier: Apache-2.0
 *
 * The cells of a group that is measured, and when the group has enough blocks. Pure functions.
 */
#pragma once

#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- a cell ---- */

/* A prepared cell of a group. The baseline of a comparison has two slots, copies 0 and 1, so that it
 * can be compared with itself (A/A). Each copy is prepared separately, and the plugin knows which
 * copy it prepares: a shared communicator would hide the difference between two communicators. */

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

/* ---- enough blocks ---- */

/* Sets half_width and converged of every live slot. A slot has converged if the 95% order-statistic
 * interval of its block median, without blocks that look like warm-up, has a half-width of at most
 * `precision` of the median. With too few blocks for an interval it has not. */
void stopping_judge(const struct set_measure *set, struct slot *slots, size_t n);

/* True after the last block: all live slots converged after at least `blocks`; or the budget is spent
 * and there are SET_LEAST_BLOCKS blocks; or max_blocks is reached; or no slot is live. */
bool stopping_enough(const struct set_measure *set, const struct slot *slots, size_t n, int block,
                     double spent_s);
