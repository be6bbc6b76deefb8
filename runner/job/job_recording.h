/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "job/trial_ranks.h"
#include "job/tune_start.h"
#include "record/job_watch.h"
#include "record/record.h"

/* ==== trial_recording ====
 *
 * Writes a launch of a job under trial as a launch of a recording (record.h). Each arm is a cell, and
 * all cells are one group. A sample is the time of all steps of a visit but the first, on the slowest
 * rank. The header has "trial": {command (the program's name), command_sha256 (of all its words),
 * communicator, abi, nccl (version), step_calls, step_B, dropped, over (why it ended)}. Notes of a
 * cell: chosen (the pairs with the lowest cost), ran (what NCCL reported), request (honoured,
 * clamped, ignored, not available or unknown). The header has a host for each rank, with its GPU, and
 * a note has the version of NCCL. A cell whose request was not honoured is skipped: it
 * has no blocks. */

struct trial_source {
    const char *platform, *dir; /* the run folder */
    char **command;
    uint64_t seed;
    int launch;
    bool complete; /* the trial ended before its job did */
    const struct job_watch *job;
};

/* GS_OK or reported. The manifest is the caller's to write. */
int trial_recording_write(const struct trial_comm *c, const struct trial_source *s);

/* ==== tune_book ====
 *
 * Writes the starts of a race or a proof as an ordinary recording of the level training (record.h):
 * each round is a launch, each setting a cell, each series of steps a block. The header has "tune":
 * {command (the program's name), command_sha256, stage, link}. A start that failed has a fail line.
 * The folder also has tune.json, the state that `resume` needs. */

#define TUNE_STATE "tune.json"
#define TUNE_WORKLOAD "train"

struct tune_book {
    const char *dir, *platform, *stage; /* "race" or "proof" */
    char *const *command;
    long long ranks, nodes, seed;
    const char *link;
    struct record record; /* of the launch that is open */
    int launch;
    struct tune_cell {
        char *label;
        int copy;
        size_t blocks;
    } * cells; /* of this launch */
    size_t n;
};

/* Begins launch `launch`, from 1. GS_OK or reported. */
int tune_book_begin(struct tune_book *b, int launch);
int tune_book_put(struct tune_book *b, const struct tune_setting *s, int copy,
                  const struct tune_started *r);
int tune_book_end(struct tune_book *b, bool complete);

/* Every start that a folder has: times in seconds, one a block, by launch; n 0: it failed. */
typedef void tune_book_take(void *ctx, int launch, const char *label, int copy,
                            const double *step_s, size_t n);
int tune_book_read(const char *dir, tune_book_take *take, void *ctx);
