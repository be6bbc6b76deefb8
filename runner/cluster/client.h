/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a Slurm program from an argv, without a shell and with a deadline. Removes SBATCH_*, SLURM_*
 * and other variables that would change what it does.
 */
#pragma once

#include "base/text.h"

struct reply {
    int status; /* exit status, or 128 + signal */
    struct text out, err;
};

/* All later programs are for this cluster; "": the one of this machine. */
void client_cluster(const char *name);
/* GS_OK when the program exited with 0. Otherwise one line was reported: GS_CANNOT for a missing
 * program or controller, GS_USAGE for a fault of the config, else GS_FAILED. `purpose` begins that
 * line: "nothing was submitted". Call reply_free in all cases. */
int client_run(struct reply *r, const char *const *argv, const char *purpose);
void reply_free(struct reply *r);
