/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the blocks of one group that count: a series for each (cell, copy). Launches that are left
 * out (launches.h) have no blocks in it.
 */
#pragma once

#include "reduce/series.h"

/* GS_OK or reported. */
int gather_group(const struct recorded *r, size_t group, struct gathered *out);
/* All groups of a run: r->n_groups of them; gathered_free_run in any case. GS_OK or reported. */
int gather_run(const struct recorded *r, struct gathered **out);
void gathered_free_run(const struct recorded *r, struct gathered *groups);

/* The status of a cell (summary.h); `why` is "" for ok. */
struct series_status {
    const char *status;
    char why[256];
    bool numbers; /* the status is ok or partial */
};
struct series_status series_status(const struct recorded *r, const struct series *s);
