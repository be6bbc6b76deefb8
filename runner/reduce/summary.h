/* SPDX-License-Identifier: Apache-2.0
 *
 * From the blocks of a cell to its rows: summary (a row for each cell of the plan, measured or not),
 * metrics (a row for each metric beyond the time) and launches (a row for each launch: its median;
 * launches are the replicates of a cell).
 *
 * A run with a manifest is read only if the manifest verifies, so no edited recording reaches a table.
 * Which blocks count: for each (launch, group), the blocks of the attempt that closed the group. If
 * none did, those of the latest attempt; the row then says converged=no.
 *
 * median_s is the median of the block medians of copy 0, without the warm-up blocks of
 * each launch (stats_warmup). Its 95% interval comes from the hierarchical bootstrap over launches
 * and blocks (SUMMARY_DRAWS draws; the stream is rng_stream(seed of the recording, first 8 hex
 * digits of the cell's id)). One launch has no interval, here and in every other table. A launch of
 * more than SUMMARY_BATCHES blocks enters the bootstrap as the medians of that many runs of
 * consecutive blocks. converged is yes if every launch closed the group and half the width of the
 * interval is at most [measure] precision times the median; so it is no for one launch. p95, p99
 * and min cover all samples of copy 0, warm-up too. status is ok, skip, failed, wrong, crash, hang,
 * lost or partial (not measured in every launch); only ok and partial have numbers. iterations is
 * the smallest number of iterations of a timed sample. throttled is the share of the group's GPU
 * readings with the power cap or another throttle reason active (empty: no readings). note is what
 * a reader must know to use the numbers (remarks.h).
 *
 * launches: a launch whose level changed in mid-run (stats_change) has change_block, the number
 * of blocks before the change, and both levels, before_s and after_s. Its blocks all count.
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
/* The column converged. */
bool summary_converged(const struct recorded *r, const struct series *s, const struct summary *m);

void metrics_rows(struct csv *c, const struct recorded *r, const struct series *s);

extern const char launches_columns[];
void launches_rows(struct csv *c, const struct recorded *r, const struct series *s);
