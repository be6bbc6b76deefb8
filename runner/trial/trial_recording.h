/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch of a job under trial as a launch of a recording (record.h): a cell an arm, all in one
 * group; a sample is the time of a visit's steps but the first, of the longest rank. Its header has
 * "trial": {command (the program's name), command_sha256 (of all its words), communicator, abi,
 * step_calls, step_B, dropped, over (why it ended)}. Notes of a cell: chosen (the algorithm and
 * protocol with the lowest cost, and how many of the calls), unavailable (calls that could not have
 * the arm).
 */
#ifndef GS_TRIAL_RECORDING_H
#define GS_TRIAL_RECORDING_H

#include "trial/trial_ranks.h"

struct trial_source {
    const char *platform, *dir; /* the run folder */
    const char *proof_of;       /* trial_options */
    char **command;
    uint64_t seed;
    int launch;
    bool complete; /* the trial ended before its job did */
};

/* GS_OK or reported. The manifest is the caller's to write. */
int trial_recording_write(const struct trial_comm *c, const struct trial_source *s);

#endif
