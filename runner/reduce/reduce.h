/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings to tables. Streams: memory is bounded by the blocks of one group, whatever the number
 * of samples.
 *
 *   gradsync reduce RAW… -o CSV           every run folder below RAW…        -> CSV/
 *   gradsync reduce --run RUN -o PART     one run folder                     -> PART/
 *   gradsync reduce --merge PART… -o CSV  what --run wrote, put together     -> CSV/
 *
 * A run folder is one that holds launch-LL.AA.jsonl files. Written are
 *   samples.csv    a row a sample that counts
 *   summary.csv    a row a cell of the plan, measured or not
 *   iteration.csv  a row a (group, config) of workloads with the modes compute, comm, sequential
 * and overlapped (iteration.h) metrics.csv    a row a (cell, metric) beyond the time
 *   launches.csv   a row a (cell, launch): its median, which replicates are told by
 *   classic/PLATFORM/WORKLOAD/RUN/   the classic files (classic.h)
 * and in a PART also `run`, its sort key. All of them exist after a success, some with a header
 * line alone; each is written aside and renamed, and the same input gives the same bytes. --merge
 * of the parts gives the bytes of the direct way. Rows are in the order of platform, workload,
 * label, run, then the plan.
 *
 * A run with a manifest is reduced only when it verifies: what was edited reaches no table.
 *
 * Which blocks count: of each (launch, group) those of the attempt that closed it, and where none
 * did, those of the latest attempt; the row then says converged=no.
 *
 * summary.csv: median_s is the median of the block medians of copy 0, each launch's warm-up blocks
 * dropped (stats_warmup). Its 95% interval is from the hierarchical bootstrap over launches and
 * blocks (REDUCE_DRAWS draws; the stream is rng_stream(seed of the recording, first 8 hex digits of
 * the cell's id)); it is empty with one launch, here and in every other table. Launches of more
 * than REDUCE_BATCHES blocks enter the bootstrap as the medians of so many runs of consecutive
 * blocks. converged is yes when every launch closed the group and half of the interval's width is
 * at most [measure] precision of the median; so it is no with one launch. p95, p99 and min are of
 * all samples of copy 0, warm-up too. status is ok, skip, failed, wrong, crash, hang, lost or
 * partial (not measured in every launch); all but ok and partial have no numbers. iterations is the
 * fewest that a timed sample has, throttled the share of the group's GPU readings with the power
 * cap or another throttle reason active (empty: no readings), note what must be known to use the
 * numbers (remarks.h).
 *
 * launches.csv: change_block, before_s and after_s are of a launch whose level changed in mid-run
 * (stats_change): after how many blocks, and both levels. Nothing is dropped for it.
 */
#ifndef GS_REDUCE_H
#define GS_REDUCE_H

#include <stddef.h>

#define REDUCE_KEY "run"
#define REDUCE_DRAWS 2000
#define REDUCE_BATCHES 256

/* GS_OK; GS_FAILED (a damaged recording, a CSV that cannot be written) or GS_USAGE (nothing to
 * reduce); reported, and no table in `out` is changed. */
int reduce_trees(const char *const *roots, size_t n, const char *out);
int reduce_run(const char *run, const char *out);
int reduce_merge(const char *const *parts, size_t n, const char *out);

#endif
