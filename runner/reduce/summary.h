/* SPDX-License-Identifier: Apache-2.0
 *
 * From the blocks of a cell to its rows in summary.csv, metrics.csv and launches.csv (reduce.h).
 */
#pragma once

#include "base/csv.h"
#include "base/stats.h"
#include "reduce/gather.h"

#define SUMMARY_DRAWS 2000  /* of the bootstrap */
#define SUMMARY_BATCHES 256 /* runs of blocks that a long launch becomes in the bootstrap */

/* A median over blocks with its 95% interval. */
struct estimate {
    double median; /* NaN when there is no block */
    double lo, hi; /* NaN with one launch: its blocks say nothing about another launch */
};

/* `values` are ordered by launch, and are changed. The bootstrap uses the stream of (seed, cell). */
struct estimate estimate_median(struct nested *values, size_t n, uint64_t seed, const char *cell);

/* Of the blocks that are not warm-up. metric: one of series.metrics; NULL: the time. */
struct estimate estimate_blocks(const struct recorded *r, const struct series *s,
                                const double *metric);

struct summary {
    struct estimate time_s;
    double p95_s, p99_s, min_s, skew_s;
    double algbw, busbw, limit_fraction; /* bytes a second; NaN where undefined */
};
/* time_s.median is NaN if the cell has no numbers. */
struct summary summary_of(const struct recorded *r, const struct series *s);

extern const char summary_columns[], metrics_columns[];
void summary_row(struct csv *c, const struct recorded *r, const struct gathered *g,
                 const struct series *s, const struct summary *m);
/* The column converged (reduce.h). */
bool summary_converged(const struct recorded *r, const struct series *s, const struct summary *m);

void metrics_rows(struct csv *c, const struct recorded *r, const struct series *s);

extern const char launches_columns[];
void launches_rows(struct csv *c, const struct recorded *r, const struct series *s);
