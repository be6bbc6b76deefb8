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
 * a reader must know to use the numbers (below).
 *
 * launches: a launch whose level changed in mid-run (stats_change) has change_block, the number
 * of blocks before the change, and both levels, before_s and after_s. Its blocks all count.
 */
#pragma once

#include "base/csv.h"
#include "base/stats.h"
#include "reduce/gather.h"

/* ---- a cell ---- */

#define SUMMARY_DRAWS 2000  /* of the bootstrap */
#define SUMMARY_BATCHES 256 /* runs of blocks that a long launch becomes in the bootstrap */

/* A median over blocks with its 95% interval. */
struct estimate {
    double median; /* NaN when there is no block */
    double lo, hi; /* NaN with one launch: its blocks say nothing about another launch */
};

/* `values` are ordered by launch, and are changed. The bootstrap uses the stream of (seed, cell). */
struct estimate estimate_median(struct nested *values, size_t n, uint64_t seed, const char *cell);

struct summary {
    struct estimate time_s;
    double p95_s, p99_s, min_s, skew_s;
    double algbw, busbw, limit_fraction; /* bytes a second; NaN where undefined */
    struct estimate *metrics;            /* of summary_metrics; NULL: not asked */
};
/* time_s.median is NaN if the cell has no numbers. */
struct summary summary_of(const struct recorded *r, const struct series *s);
/* The metrics of a cell with numbers, in its order; the caller frees them. NULL: it has no numbers. */
struct estimate *summary_metrics(const struct recorded *r, const struct series *s);

extern const char summary_columns[], metrics_columns[];
void summary_row(struct csv *c, const struct recorded *r, const struct gathered *g,
                 const struct series *s, const struct summary *m);

void metrics_rows(struct csv *c, const struct recorded *r, const struct series *s,
                  const struct summary *m);

extern const char launches_columns[];
void launches_rows(struct csv *c, const struct recorded *r, const struct series *s);

/* ---- remarks ----
 *
 * What a reader must know before using the numbers of a cell; summary.csv and `show` print it.
 *   launches were left out (gather.h), and why
 *   a launch changed its level (stats_change): where, and both levels; its blocks all count
 *   T_ss was timed over fewer than REMARK_STEADY operations: not yet the steady state
 *   the power cap or another clock throttle was active in most readings of the group: its clocks,
 *   and so its times, differ from those of other groups
 */

#define REMARK_STEADY 16

/* The remarks, separated by "; "; the caller frees it. */
char *remarks_of(const struct recorded *r, const struct gathered *g, const struct series *s);

/* The remark on clocks alone; the caller frees it. */
char *remarks_throttled(const struct gathered *g);

/* The share of the group's GPU readings with a throttle reason; NaN: no readings. */
double gathered_throttled(const struct gathered *g);

/* The change of level in the launch of n blocks from `first` on. */
struct change series_change(const struct series *s, size_t first, size_t n);

/* ---- the parts of a step ----
 *
 * The parts of a training step (iteration.csv), from cells with these modes:
 *   A compute    the GEMMs alone            C sequential   one after the other
 *   B comm       the all-reduces alone      D overlapped   on two streams
 * All four are measured in the same blocks. Each number is a median over blocks of its value in one
 * block:
 *   exposed = D - A                 communication that the step waits for
 *   hidden  = B - exposed, limited to 0..B
 *   overlap = (C - D) / min(A, B)   0: nothing is hidden, 1: everything; empty where B is below 1%
 *                                   of A, because the noise of C and D is larger than B there
 * throttled is that of the group. A power cap changes the clocks from group to group, so
 * compare the times of steps only inside a group; note says so.
 */

extern const char iteration_columns[];
extern const char *const iteration_modes[]; /* A, B, C, D, NULL */
/* A row for each config of the group with all four modes. `cells` has the summary of each cell of the run. */
void iteration_rows(struct csv *c, const struct recorded *r, const struct gathered *g,
                    const struct summary *cells);

/* ---- evidence ----
 *
 * The level of evidence: how much a measured time says about a user's training. A higher level says
 * more and overrides a lower one.
 *
 *   alone      the collective by itself, or compute by itself
 *   synthetic  a step of equal GEMMs and equal buckets (iter_proxy)
 *   step       a recorded training step, replayed (iter_proxy with the parameter `step`)
 *   trial      the user's training job, settings switched between blocks of its steps
 *   training   the user's training command, launched anew for each setting
 *   price      the user's job without a part of its communication (arms none, half and one), and the copy of its
 *              library with nothing changed (control): what nobody can set
 */

enum level {
    LEVEL_ALONE,
    LEVEL_SYNTHETIC,
    LEVEL_STEP,
    LEVEL_TRIAL,
    LEVEL_TRAINING,
    LEVEL_PRICE,
    LEVELS
};
extern const char *const level_names[LEVELS];

/* params: "key=value key=value" of the cell. */
enum level level_of(const char *workload, const char *mode, const char *params);
bool level_is_price(const char *workload, const char *label, const char *config);
