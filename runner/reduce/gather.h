/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocks of one group that count, a series a (cell, copy): one pass over its spans.
 */
#ifndef GS_GATHER_H
#define GS_GATHER_H

#include "base/sketch.h"
#include "record/recorded.h"

struct block {
    int launch, number;
    bool warm;     /* of its launch's warm-up: not in the medians */
    double time_s; /* median of its samples, an iteration */
    double skew_s; /* NaN: not recorded */
};

struct series {
    size_t cell; /* in recorded.cells */
    int copy;
    struct block *blocks; /* by launch, then as recorded */
    size_t n_blocks, n_warm, n_samples;
    struct sketch times; /* picoseconds an iteration; of copy 0 alone */
    double **metrics;    /* [metric][block]; NaN where a block has none */
    int launches;        /* that have blocks of it */
    uint64_t iterations; /* of a sample: the fewest */
    bool whole;          /* every such launch closed the group */
};

struct gathered {
    struct series *series; /* by cell, then copy; copy 0 of every cell of the group is there */
    size_t n;
    size_t readings, throttled; /* of GPUs: all, and those with the power cap or a throttle on */
};

/* Called with the samples of each block that counts; NULL: nobody wants them. */
struct gather_sink {
    void (*block)(void *ctx, const struct rec_cell *cell, int copy, int launch, int number,
                  const uint64_t *time_ns, size_t n, uint64_t iters);
    void *ctx;
};

/* GS_OK or reported. */
int gather_group(const struct recorded *r, size_t group, const struct gather_sink *sink,
                 struct gathered *out);
void gathered_free(const struct recorded *r, struct gathered *g);

/* NULL when the group has no such series. */
const struct series *gathered_find(const struct gathered *g, size_t cell, int copy);

/* What became of a cell (reduce.h); `why` is "" for ok. A cell with numbers is ok or partial. */
struct outcome {
    const char *status;
    char why[256];
    bool numbers;
};
struct outcome gathered_outcome(const struct recorded *r, const struct series *s);

#endif
