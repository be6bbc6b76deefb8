/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes launches of a user's job as ordinary recordings (record.h).
 *
 * Visits inside running jobs, of the workload "trial", as earlier versions had them: each arm is a cell, and all cells
 * are one group. A sample is the time of all steps of a visit but the first, on the slowest rank; "rank_ns" has those of
 * all ranks. The header has "trial": {command (the program's name), line (all its words, secrets hidden), command_sha256 (of all its
 * words), communicator, nccl (version), step_calls, step_B, other_B, dropped, over (why they ended)}, and a host for each rank, with its GPU.
 * Each launch of the job as it is, those of the proof included, is a launch of one run. A cell of a price has the note
 * "ran": "none". Old recordings have others: chosen, ran (what NCCL reported), request.
 *
 * A race or a proof of tune, of the level training: each round is a launch, each setting a cell, each
 * series of steps a block. The header has "tune": {command, line, command_sha256, stage, link}. A start that
 * failed has a fail line.
 */
#pragma once

#include "job/job_watch.h"
#include "job/journal.h"
#include "job/launch.h"
#include "record/record.h"

#define JOB_TRIAL "trial" /* workloads */
#define JOB_TUNE "train"
#define JOB_PRICE "price" /* a stage: whole launches, some without communication */

/* Before the job, whose recording would be refused after it: makes the folder of the recordings, and
 * checks the name of the platform. GS_OK or reported. */
int job_recording_folder(const char *platform, const char *out);
/* The folder of all recordings, which holds the run `dir` of `tune`. The caller frees; NULL, reported: `dir`
 * is not in one. */
char *job_recording_root(const char *dir, const char *platform);

struct job_source {
    const char *platform, *dir; /* the run folder */
    char *const *command;
    long long ranks, nodes, seed;
    int launch;
    double periods; /* of the visits, in a step of the job; 0: a step is one */
};

/* Visits whose arms have the names that the recording shall have. GS_OK or reported. The manifest is the caller's to
 * write. */
int job_recording_trial(const struct journals *j, const struct job_source *s,
                        const struct job_watch *watch, bool complete);
/* The visits of all launches, sorted by launch. Of a race or a proof: each start as a visit of one step, of 0 ns if it
 * failed. GS_OK or reported. */
int job_recording_visits(struct visits *all, const char *dir);

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
                      const struct launched *r);
int job_recording_end(struct job_recording *b, bool complete);
