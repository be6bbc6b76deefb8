/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocks of one group, by cell and copy (gather.h reads them).
 */
#pragma once

#include "record/recorded.h"

struct block {
    int launch, number;
    bool warm;     /* warm-up of its launch, by the baseline (launches.h); not in the medians */
    double time_s; /* median of its samples, per iteration */
    double skew_s; /* NaN: not recorded */
};

struct series {
    size_t cell; /* in recorded.cells */
    int copy;
    struct block *blocks; /* by launch, then in the order of the recording */
    size_t n_blocks, n_warm, n_samples;
    double *times;       /* n_samples, picoseconds per iteration; NULL unless copy is 0 */
    double **metrics;    /* [metric][block]; NaN: the block has no value */
    int launches;        /* that have blocks of this series */
    int left_out;        /* that had some and were left out */
    uint64_t iterations; /* the fewest of a sample */
    bool whole;          /* all these launches closed the group */
};

struct gathered {
    struct series *series; /* by cell, then copy; every cell of the group has copy 0 */
    size_t n;
    struct launch_out {
        int launch;
        char *why;
    } * out;
    size_t n_out;
    bool too_many;              /* to leave them out */
    size_t readings, throttled; /* of GPUs: all; those with the power cap or a throttle active */
};

void gathered_free(const struct recorded *r, struct gathered *g);

/* NULL: the group has no such series. */
const struct series *gathered_find(const struct gathered *g, size_t cell, int copy);

/* The block of a launch with this number; NULL: none. Blocks are ordered: *from, 0 at first, moves
 * along with the blocks that are asked for. */
const struct block *series_block(const struct series *s, int launch, int number, size_t *from);
