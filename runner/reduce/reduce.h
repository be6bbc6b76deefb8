/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns recordings into tables. Memory is bounded by the blocks of one group, whatever the number of
 * samples.
 *
 *   gradsync reduce RAW… -o CSV           every run folder below RAW…  -> CSV/
 *   gradsync reduce --run RUN -o PART     one run folder               -> PART/
 *   gradsync reduce --merge PART… -o CSV  parts                        -> CSV/
 *
 * A run folder has files launch-LL.AA.jsonl. The tables are
 *   samples.csv    a row for each sample of a block that counts
 *   summary.csv    a row for each cell of the plan, measured or not
 *   iteration.csv  a row for each (group, config) with the modes compute, comm, sequential and
 *                  overlapped (iteration.h)
 *   metrics.csv    a row for each (cell, metric) beyond the time
 *   launches.csv   a row for each (cell, launch): its median; launches are the replicates of a cell
 *   wan.csv        a row for each cell of wan_sync, beside the model (measured.h)
 *   classic/PLATFORM/WORKLOAD/RUN/   the classic files (classic.h)
 * A PART also has `run`, its sort key. --merge also merges the tables that 'gradsync compare -o PART'
 * wrote there. After a success all of them exist; a table without rows has
 * its header. Each is written under another name and renamed, and the same input gives the same
 * bytes. --merge gives the bytes of the direct way. Rows are ordered by platform, workload, label
 * and run, then by the plan.
 *
 * A run with a manifest is reduced only if the manifest verifies, so no edited recording reaches a
 * table.
 *
 * Which blocks count: for each (launch, group), the blocks of the attempt that closed the group. If
 * none did, those of the latest attempt; the row then says converged=no.
 *
 * summary.csv: median_s is the median of the block medians of copy 0, without the warm-up blocks of
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
 * launches.csv: a launch whose level changed in mid-run (stats_change) has change_block, the number
 * of blocks before the change, and both levels, before_s and after_s. Its blocks all count.
 */
#pragma once

#include <stddef.h>

#define REDUCE_KEY "run" /* the file of a PART with its sort key */

/* GS_OK; or reported, and no table in `out` changes: GS_FAILED (a damaged recording, a table that
 * cannot be written) or GS_USAGE (nothing to reduce). */
int reduce_trees(const char *const *roots, size_t n, const char *out);
struct recorded;
struct tables;
/* The rows of a run that was read, for tables that are open; no classic files. GS_OK or reported. */
int reduce_recorded(const struct recorded *r, struct tables *tables);
int reduce_run(const char *run, const char *out);
int reduce_merge(const char *const *parts, size_t n, const char *out);
