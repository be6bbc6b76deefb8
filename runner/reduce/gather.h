/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocks of a group, by cell and copy: how they are read, which of them count, and which launches
 * are left out.
 */
#pragma once

#include "record/host_load.h"
#include "record/recorded.h"

#include <stdint.h>

/* ---- series ---- */

struct block {
    int launch, number;
    bool warm;     /* warm-up of its launch, by the baseline (below); not in the medians */
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
    struct disturbed_launches out; /* and those that are far from the others */
    bool too_many;                 /* to leave them out */
    size_t readings, throttled;    /* of GPUs: all; those with the power cap or a throttle active */
};

void gathered_free(const struct recorded *r, struct gathered *g);

/* NULL: the group has no such series. */
const struct series *gathered_find(const struct gathered *g, size_t cell, int copy);

/* The block of a launch with this number; NULL: none. Blocks are ordered: *from, 0 at first, moves
 * along with the blocks that are asked for. */
const struct block *series_block(const struct series *s, int launch, int number, size_t *from);

/* ---- reading ---- */

/* The blocks of one group that count: a series for each (cell, copy). Launches that are left out (below)
 * have no blocks in it. */
void gather_group(const struct recorded *r, size_t group, struct gathered *out);
/* All groups of a run, r->n_groups of them. */
struct gathered *gather_run(const struct recorded *r);
void gathered_free_run(const struct recorded *r, struct gathered *groups);

/* The status of a cell; `why` is "" for ok. */
struct series_status {
    const char *status;
    char why[256];
    bool numbers; /* the status is ok or partial */
};
struct series_status series_status(const struct recorded *r, const struct series *s);

/* ---- what is left out ----
 *
 * What is left out of the statistics of a group, for all of its configs alike: the warm-up at the
 * start of each launch, and whole launches. Both are judged by the baseline alone, never by a config
 * that is compared with it: a rule that looks at each config selects the blocks that suit it.
 *
 * Warm-up (stats_warmup) is found in the mean of the baselines of all modes and of both copies, by
 * block. An import has one config a group, which is judged by itself.
 *
 * A launch is left out if other programs disturbed it (record/host_load.h), or if a baseline of the
 * group is far from the others: its median differs from the median of the other launches by more than
 * 10%, and by more than ten times their scaled median absolute deviation. At least three others must
 * be there. Launches are left out only while they are less than half of those of the group: where half
 * of them are disturbed, nothing says which half is right.
 */

#define LAUNCH_FAR 0.10
#define LAUNCH_DEVIATIONS 10
#define LAUNCH_OTHERS 3

/* Is a value far from the n others? For the simulation, too. */
bool launches_far(double median, const double *others, size_t n);

void launches_mark_warmup(const struct recorded *r, struct gathered *g);
/* Fills g->out. */
void launches_judge(const struct recorded *r, struct gathered *g);

/* "launch 1 left out: ...; launch 3 left out: ..."; the caller frees it. "": none. */
char *launches_out_text(const struct gathered *g);

/* ---- launches to measure again ----
 *
 * The launches of a run folder that the statistics leave out, for those that measure it:
 * they tell, and measure others in place of them.
 */

/* While a run is measured: says once of each launch that it is left out, with the reason of its first group,
 * and counts them. */
struct launches_told {
    int *v;
    size_t n;
};
int launches_tell(struct launches_told *told, const char *name, const char *dir);
/* Launches to measure besides the n planned ones: one for each that is left out, half of n at most. */
int launches_more(const struct launches_told *told, int64_t n);
