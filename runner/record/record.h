/* SPDX-License-Identifier: Apache-2.0
 *
 * The raw recording. A run folder, data/raw/<platform>/<workload>/<run>/, holds
 *   config.ini, plan.json            what was asked (plan.h)
 *   launch-LL.AA.jsonl               launch LL, attempt AA, both from 01; one writer each: rank 0
 *   skipped-LL.AA.jsonl              an attempt that skipped every cell: counts as no recording
 *   launch-LL.AA.log                 what the launcher and the ranks printed; kept when it failed
 *   MANIFEST.json                    SHA-256 of every file above; written last, makes the run final
 * and is named YYYYMMDDThhmmssZ[-label]-xxxx.
 *
 * A .jsonl line is one object whose first member is "type". Lines are appended whole and fsynced at
 * the end of each block; a torn last line is ignored by readers and cut by the next writer.
 *
 * - header: schema, gradsync, commit, run_id, platform, workload, label, launch, attempt, started
 *   (RFC 3339 UTC), seed, config (text), config_sha256, overrides, ranks, nodes, plugin (its
 *   version), clock {name, step_ns}, mpi, env (NCCL_*, OMPI_*, UCX_* alone), hosts [{rank, host,
 *   cpu, cores, kernel, memory_B, device…}], in a Slurm job: job {id, array, task, restarts, nodes,
 *   partition, cluster}, in gradsync lab: lab (lab/facts.h: what the sites and lines were to be,
 * and what was measured of them before the command)
 * - note: cell ("" for the process), copy, key, value: what a plugin noted
 * - cell: cell, group, copy, config, mode, params {}, size_B, busbw_factor, span, iters, metrics
 *   [{name, unit}] (those after the first), baseline, prepared (its place, from 1, in the order in
 *   which the group's cells were prepared; not in older recordings, which prepared the cells in the
 *   plan's order); once a group and copy, before its first block
 * - block: cell, copy, block (from 1), at (Unix seconds), iters, skew_ns (median over samples of
 *   the ranks' start spread), spread_ns (median of max - min of the ranks' times), metrics
 *   {name: median} where the plugin has more than its time, time_ns [..]: one integer a sample, the
 *   time of all its iterations, the longest rank's; always the last member. In the order of visits
 * - health: group, block, before {}, after {}, both by rank: clocks, load, temperature, power,
 *   throttle reasons. busy_cores (of the node) and own_cores (of the rank) are means since the
 *   launch began; what they and load1 say of other programs: host_load.h
 * - fail: cell, copy, kind, why, rank, host, phase: kind is skip, failed, wrong, crash, hang, lost
 * - group: group, blocks, cells [{cell, copy, blocks, converged, half_width}]: closes the group; a
 *   group without it was interrupted and counts only until an attempt closes it
 * - end: at, status: complete, interrupted, crash, hang, lost
 *
 * What was imported has no plan.json, and a config.ini where its platform was given by one. Each of
 * its launches is a test of another program's output: the header has "imported": {path (the file's
 * name), sha256, format, version, line (where the test begins), at (when it was imported)}, and
 * neither clock, config, env nor mpi; blocks have no at, skew_ns, spread_ns or metrics, since
 * nobody recorded them; each cell is a group of its own, as nothing else was measured in its
 * blocks.
 */
#ifndef GS_RECORD_H
#define GS_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define RECORD_SCHEMA 1
#define RECORD_MANIFEST "MANIFEST.json"

/* An append-only file of lines. */
struct record {
    int fd;
    char *path;
};

/* Creates (O_EXCL) or, for the supervisor's closing lines, reopens and cuts a torn tail. GS_OK or
 * GS_FAILED, reported with the errno: full disk, read-only folder, no permission. */
int record_create(struct record *r, const char *path);
int record_reopen(struct record *r, const char *path);
/* Does the process that created it still have it open? Under srun a rank may outlive its launcher.
 */
bool record_is_being_written(const char *path);
/* Takes ownership of the object; writes it and '\n' in one write(2). GS_OK or GS_FAILED, reported.
 */
int record_line(struct record *r, json_t *object);
/* A block line: `head` is its object without time_ns (owned), then the samples. */
int record_block(struct record *r, json_t *head, const uint64_t *time_ns, size_t n);
int record_sync(struct record *r);
int record_close(struct record *r);

/* "launch-02.01.jsonl"; parse gives false for any other name. */
const char *record_name(char *buf, size_t n, int launch, int attempt, const char *extension);
bool record_parse_name(const char *name, int *launch, int *attempt);

/* Makes <root>/<platform>/<workload>/<run id>, never one that exists; *dir is the caller's. */
int record_make_run(const char *root, const char *platform, const char *workload, const char *label,
                    char **dir);

#endif
