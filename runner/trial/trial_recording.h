/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a launch of a job under trial as a launch of a recording (record.h). Each arm is a cell, and
 * all cells are one group. A sample is the time of all steps of a visit but the first, on the slowest
 * rank. The header has "trial": {command (the program's name), command_sha256 (of all its words),
 * communicator, abi, nccl (version), step_calls, step_B, dropped, over (why it ended)}. Notes of a
 * cell: chosen (the pairs with the lowest cost), ran (what NCCL reported), request (honoured,
 * clamped, ignored, not available or unknown). The header has a host for each rank, with its GPU, and
 * a note has the version of NCCL. A cell whose request was not honoured is skipped: it
 * has no blocks.
 */
#pragma once

#include "record/job_watch.h"
#include "trial/trial_ranks.h"

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
