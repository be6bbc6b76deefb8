/* SPDX-License-Identifier: Apache-2.0
 *
 * From the blocks of a cell to the numbers of its row in summary.csv (reduce.h says which).
 */
#ifndef GS_SUMMARY_H
#define GS_SUMMARY_H

#include "base/csv.h"
#include "reduce/gather.h"

/* A median over blocks with its 95% interval. */
struct estimate {
    double median; /* NaN when there is no block */
    double lo, hi; /* NaN when there is one launch: its blocks say nothing about another launch */
};

/* `values` by launch; changed. The interval is from the bootstrap with the stream of (seed, cell).
 */
struct nested;
struct estimate estimate_median(struct nested *values, size_t n, uint64_t seed, const char *cell);

/* Of the blocks that count; metric: of series.metrics, NULL: the time. */
struct estimate estimate_blocks(const struct recorded *r, const struct series *s,
                                const double *metric);

struct summary {
    struct estimate time_s;
    double p95_s, p99_s, min_s, skew_s;
    double algbw, busbw, limit_fraction; /* bytes a second; NaN where they mean nothing */
};
/* time_s.median is NaN for a cell that has no numbers. */
struct summary summary_of(const struct recorded *r, const struct series *s);

extern const char summary_columns[], metrics_columns[];
void summary_row(struct csv *c, const struct recorded *r, const struct gathered *g,
                 const struct series *s, const struct summary *m);
/* The column converged (reduce.h). */
bool summary_converged(const struct recorded *r, const struct series *s, const struct summary *m);

void metrics_rows(struct csv *c, const struct recorded *r, const struct series *s);

/* A row a launch: the median of its blocks. */
extern const char launches_columns[];
void launches_rows(struct csv *c, const struct recorded *r, const struct series *s);

#endif
