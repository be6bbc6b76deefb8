/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes launches of a user's job as ordinary recordings (record.h).
 *
 * A trial: each arm is a cell, and all cells are one group. A sample is the time of all steps of a
 * visit but the first, on the slowest rank; a price also has the times of all ranks ("rank_ns"). The
 * header has "trial": {command (the program's name), command_sha256 (of all its words), communicator,
 * abi, nccl (version), step_calls, step_B, dropped, over (why it ended)}, and a host for each rank,
 * with its GPU. Notes of a cell: chosen (the pairs with the lowest cost), ran (what NCCL reported),
 * request (honoured, clamped, ignored, not available or unknown). A cell whose request was not
 * honoured is skipped: it has no blocks.
 *
 * A race or a proof of tune, of the level training: each round is a launch, each setting a cell, each
 * series of steps a block. The header has "tune": {command, command_sha256, stage, link}. A start that
 * failed has a fail line.
 */
#pragma once

#include "job/job_watch.h"
#include "job/trial_ranks.h"
#include "job/tune_start.h"
#include "record/record.h"

#define JOB_TRIAL "trial" /* workloads */
#define JOB_TUNE "train"
#define JOB_PRICE "price" /* a stage: whole launches, some without communication */

/* Before the job, whose recording would be refused after it: makes the folder of the recordings, and
 * checks the name of the platform. GS_OK or reported. */
int job_recording_folder(const char *verb, const char *platform, const char *out);
/* The folder of all recordings, which holds the run `dir` of `tune`. The caller frees; NULL, reported: `dir`
 * is not in one. */
char *job_recording_root(const char *dir, const char *platform);

/* Of a trial: also of the launches before one that failed or was interrupted. Says where it is. */
int job_recording_seal(const char *run);

struct job_source {
    const char *platform, *dir; /* the run folder */
    char *const *command;
    long long ranks, nodes, seed;
    int launch;
};

/* complete: the trial ended before its job did. GS_OK or reported. The manifest is the caller's to
 * write. */
int job_recording_trial(const struct trial_comm *c, const struct job_source *s,
                        const struct job_watch *watch, bool complete);
/* The visits of a trial of one launch; c->n is 0 if there are none, or several launches. GS_OK or
 * reported. */
int job_recording_visits(struct trial_comm *c, const char *dir);

/* What two recordings of the same job have in common: the command, the ranks, the nodes, and the
 * variables that tune a library. NULL: not the recording of a job. The caller frees. */
char *job_recording_job(const char *dir);

/* A launch of a race or a proof while it is written. */
struct job_recording {
    struct job_source of;
    const char *stage, *link; /* stage: "race", "proof" or JOB_PRICE */
    struct record record;
    struct job_cell *cells;
    size_t n;
};

/* GS_OK or reported. */
int job_recording_begin(struct job_recording *b);
int job_recording_put(struct job_recording *b, const struct tune_setting *s, int copy,
                      const struct tune_started *r);
int job_recording_end(struct job_recording *b, bool complete);

/* Every start that a folder has, with the median of its steps; 0: it failed. */
typedef void job_recording_take(void *ctx, int launch, const char *label, int copy, double step_s);
int job_recording_read(const char *dir, job_recording_take *take, void *ctx);

/* For any recording of a job: on what it ran, as notes, and the clocks of the GPUs and the other
 * programs on them, while it ran. */
int job_recording_machine(struct record *r, const struct job_watch *watch);
int job_recording_health(struct record *r, const struct job_watch *watch, const char *group,
                         size_t block);
