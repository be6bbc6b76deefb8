/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a Slurm program from an argv, without a shell and with a deadline. Removes SBATCH_*, SLURM_*
 * and other variables that would change what it does.
 * Tells which config values are safe in a job script at places that cannot be quoted.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>

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

/* Safe in a #SBATCH line: letters, digits and the marks of Slurm's syntax. Excludes blanks, quotes,
 * expansions and comments. */
bool sbatch_words_value(const char *s);
/* The name of an sbatch option: "mail-user". */
bool sbatch_words_option(const char *s);
/* The name of an environment module: "mpi/openmpi-4.1". */
bool sbatch_words_module(const char *s);
/* Usable as the folder of a job. Slurm expands '%' and '\' in paths. */
bool sbatch_words_path(const char *s);
/* One line without control characters. */
bool sbatch_words_line(const char *s);
