/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a recording. The format of its lines is below.
 */
#pragma once

#include "base/text.h"
#include "plan/plan.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the file ---- */

/* The recording format (schema 1).
 *
 * A run folder is data/raw/<platform>/<workload>/<run id>/. The run id is
 * YYYYMMDDThhmmssZ[-label]-xxxx: the UTC start time, the label, four random characters.
 *
 *   file                  content
 *   config.ini            the config
 *   plan.json             the plan made from it (plan.h)
 *   launch-LL.AA.jsonl    recording of launch LL, attempt AA (both from 01), written by rank 0
 *   skipped-LL.AA.jsonl   an attempt that skipped every cell; not read as a recording
 *   launch-LL.AA.log      output of the launcher and the ranks; removed if empty after success
 *   MANIFEST.json         SHA-256 of all files above; written last, makes the run final (manifest.h)
 *
 * Each line of a .jsonl file is one JSON object. Its first member is "type". A line is appended
 * with one write, and the file is synced after each block. A killed writer may leave an incomplete
 * last line: readers ignore it, the next writer removes it.
 *
 * A finished file has a digest in its last line, so that nothing seals or counts a file that was altered
 * while its run was unfinished. It is no signature: who edits a file can also compute its digest anew.
 * In the recordings of before, each line has "chain" as its second member instead: a hash of that
 * line without this member and of the "chain" of the line before. Those of version 0.1 have neither.
 *
 *   type    member         meaning
 *   header                 first line of the file
 *           schema         version of this format, an integer
 *           gradsync       version of gradsync
 *           commit         its git commit
 *           run_id, platform, workload, label
 *           launch, attempt
 *           started        RFC 3339, UTC
 *           seed           seed of the run
 *           config         the config's text
 *           config_sha256  its SHA-256
 *           plan_sha256    SHA-256 of plan.json; absent in older recordings
 *           overrides      the "section:key=value" of the command line
 *           ranks, nodes   planned numbers
 *           plugin         version of the plugin
 *           clock          {name, step_ns}
 *           mpi            version text of the MPI library
 *           env            variables NCCL_*, OMPI_*, UCX_* (record_env)
 *           hosts          for each rank {rank, host, cpu, cores, kernel, memory_B, device...}
 *           proof_of       ids of the runs whose advice this run tests
 *           job            in a Slurm job: {id, array, task, restarts, nodes, partition, cluster}
 *           lab            under `gradsync lab`: configured sites and links, and their
 *                          measurement before the command (lab/spec.h)
 *           trial          of `gradsync tune`: visits (job/job_recording.h)
 *   note                   a fact from the plugin or the runner; of launches of a job also gpu, uuid,
 *                          driver, cuda_driver of each GPU and nccl, after its first start
 *           cell, copy     the cell, "" for the whole process
 *           key, value     texts
 *   cell                   once for each cell and copy of a group, before its first block
 *           cell, group    ids
 *           copy           0, or 1 for the second copy of a baseline
 *           config, mode   names
 *           params         {name: value}
 *           size_B         size in bytes
 *           busbw_factor   bus bandwidth / (size / time); 0: not a collective
 *           span           true: a sample's time is last end - first start over the ranks;
 *                          false: the longest time of any rank
 *           iters          iterations in each sample
 *           metrics        [{name, unit}] of the metrics after the time
 *           baseline       true for the baseline of a comparison
 *           prepared       position, from 1, in the group's preparation order; absent in older
 *                          recordings, which prepared cells in plan order
 *   block                  the samples of one visit; lines are in visit order
 *           cell, copy
 *           block          block number, from 1
 *           at             start, Unix seconds
 *           iters          iterations in each sample
 *           skew_ns        median over samples of last start - first start
 *           spread_ns      median over samples of longest - shortest time of a rank
 *           rank_ns        of a price (job/price.h): the time of each rank
 *           metrics        {name: median}; only if the plugin has metrics besides the time
 *           each           {name: [a value for each rank]} of metrics that differ by rank; absent
 *                          if the plugin has none
 *           time_ns        one integer per sample, the time of all its iterations; always last
 *   health                 load, clocks, temperature, power, throttle reasons (health.h)
 *           group, block
 *           before, after  {rank: readings}; busy_cores (host) and own_cores (rank) are means
 *                          since the launch began (host_load.h); gpu.others: programs on the
 *                          GPU that are not ours. Of a train or trial: one line, at the end of
 *                          each start, about the whole of it (job_watch.h)
 *   fail                   a cell failed or was skipped
 *           cell, copy     the cell, "" before the first
 *           kind           skip, failed, wrong, crash, hang, lost
 *           why            reason
 *           rank, host     where it failed
 *           phase          step in which it failed
 *           printed_ns     only of `gradsync train`: the step times that the command printed
 *                          before it failed; they count in no table and no verdict
 *   group                  closes a group; blocks of a group without this line count only until
 *                          another attempt closes the group
 *           group, blocks
 *           cells          [{cell, copy, blocks, converged, half_width}]
 *   end                    last line
 *           at             Unix seconds; absent in older trials
 *           status         complete, interrupted, crash, hang, lost
 *           sha256         of the file up to the comma before this member, as it was written
 *
 * An imported run has no plan.json, and has a config.ini only if a config gave its platform. Each
 * launch is one test in another program's output. Its header has no clock, config, env or mpi, but
 * "imported": {path (file name), sha256, format, version, line (where the test begins), at (time
 * of the import)}. Its blocks have no at, skew_ns, spread_ns or metrics. Each cell is a group of
 * its own, because no other cell was measured in its blocks. */

#define RECORD_SCHEMA 1
#define RECORD_MANIFEST "MANIFEST.json"
#define RECORD_DIGEST ",\"sha256\":\"" /* before the 64 digits */

/* An append-only file of lines. */
struct record {
    int fd;
    char *path;
    struct evp_md_ctx_st *written; /* hash of the lines so far */
    bool in_batches;               /* lines are written many at a time: they can be made again */
    struct text batch;             /* lines that are not yet written */
};

/* Creates the file (O_EXCL). GS_OK, or GS_FAILED with the system's error reported. */
int record_create(struct record *r, const char *path);
/* Reports errno: "cannot WHAT", and what to do. */
int record_cannot(const char *what, const char *path);
/* True while the process that created it has it open: under srun a rank may outlive its launcher. */
bool record_is_being_written(const char *path);
/* Writes the object and '\n' in one write(2); takes ownership. GS_OK or GS_FAILED,
 * reported. Every recording is written by the functions below. */
int record_line(struct record *r, json_t *object);
/* Writes a block line: `head` (owned) is the object without time_ns, which holds the samples. */
int record_block(struct record *r, json_t *head, const uint64_t *time_ns, size_t n);
/* The same; `head` is the text of the object, compact and without its last brace. */
int record_block_text(struct record *r, const char *head, const uint64_t *time_ns, size_t n);
/* Writes the samples as "[1,2,3]", RECORD_SAMPLES_BYTES(n) at most; returns their end. */
#define RECORD_SAMPLES_BYTES(n) ((n) * sizeof "18446744073709551615" + 2)
char *record_put_samples(char *at, const uint64_t *time_ns, size_t n);
/* Writes the end line, with the time and the digest, and syncs. */
int record_end(struct record *r, const char *status);
int record_sync(struct record *r);
int record_close(struct record *r);

/* The recording of an attempt, on rank 0; on other ranks these functions do nothing. The first error
 * stays in `code`, and nothing is written after it. So callers check `code` once a block, where the
 * ranks agree on how to continue. */
struct record_attempt {
    bool writes;     /* this is rank 0 */
    bool open;       /* the file exists */
    json_t *waiting; /* lines to write once the file exists */
    struct record record;
    int code;
};

void record_attempt_begin(struct record_attempt *a, bool writes);
/* Creates the recording with this header (owned). */
void record_attempt_open(struct record_attempt *a, const char *path, json_t *header);
/* Takes ownership of the object. */
void record_attempt_line(struct record_attempt *a, json_t *object);
/* Takes ownership of the head of the block. */
void record_attempt_block(struct record_attempt *a, json_t *head, const uint64_t *time_ns,
                          size_t n);
void record_attempt_sync(struct record_attempt *a);
void record_attempt_end(struct record_attempt *a, const char *status);
/* Drops waiting lines. A recording without an end line is incomplete. */
void record_attempt_close(struct record_attempt *a);

/* "DIR/launch-02.01.jsonl"; the caller frees it. record_parse_name returns false for any other name
 * than this one. */
char *record_path(const char *dir, int launch, int attempt, const char *extension);
bool record_parse_name(const char *name, int *launch, int *attempt);

/* The paths of the recordings in a run folder, sorted by name. False and errno: it cannot be read. */
bool record_list(const char *dir, struct words *paths);

/* Makes a new folder <root>/<platform>/<workload>/<run id>. The caller frees *dir. */
int record_make_run(const char *root, const char *platform, const char *workload, const char *label,
                    char **dir);

/* ---- where and with what it is measured ---- */

/* The provenance in the header. It must hold no secret of the environment. */

/* The header line without clock, mpi and hosts, which only the ranks know. The name of `dir`, the run
 * folder, is the run id. */
json_t *record_header(const struct plan *p, const char *dir, int launch, int attempt);

/* {rank, host, cpu, cores, kernel, memory_B} of this process. */
json_t *record_host(int rank);

/* The variables that tune communication: NCCL_*, OMPI_* and UCX_*. It leaves out the addresses and
 * job ids that a launcher passes to its processes. A variable named after a key, token, secret or
 * password has the value "(hidden)". `environment` is NULL-terminated. */
json_t *record_env(char *const *environment);

/* RFC 3339, UTC: "2025-01-31T12:00:00Z". */
const char *record_time(char *buf, size_t n);

/* ---- lines of cells ---- */

json_t *record_note_line(const char *cell, int copy, const char *key, const char *value);
/* prepared: position in the order of the group, from 1. */
json_t *record_cell_line(const struct plan *p, const struct group *g, const struct cell *c,
                         int copy, unsigned iters, size_t prepared);
/* What a group line says about one of its cells. half_width NaN: unknown. */
json_t *record_closed_cell(const struct cell *c, int copy, size_t blocks, bool converged,
                           double half_width);
json_t *record_group_line(const struct group *g, int blocks, json_t *cells);

/* ---- the number of an attempt ---- */

/* Reserves an attempt number that no other gradsync uses. Two processes may measure one launch at
 * the same time, for example after a batch system gave up a node that went on measuring. Each
 * attempt then has its own files, and readers use one of them. */

/* Takes *attempt or the next free number, by creating the attempt's log. GS_OK or GS_FAILED,
 * reported. */
int record_take_attempt(const char *dir, int launch, int *attempt);
