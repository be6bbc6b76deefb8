/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the blocks of one group that count: a series for each (cell, copy). Launches that are left
 * out (launches.h) have no blocks in it.
 */
#pragma once

#include "reduce/series.h"

/* Called with the samples of each block that counts. */
struct gather_sink {
    void (*block)(void *ctx, const struct rec_cell *cell, int copy, int launch, int number,
                  const uint64_t *time_ns, size_t n, uint64_t iters);
    void *ctx;
};

/* sink may be NULL. GS_OK or reported. */
int gather_group(const struct recorded *r, size_t group, const struct gather_sink *sink,
                 struct gathered *out);

/* The status of a cell (reduce.h); `why` is "" for ok. */
struct series_status {
    const char *status;
    char why[256];
    bool numbers; /* the status is ok or partial */
};
struct series_status series_status(const struct recorded *r, const struct series *s);
