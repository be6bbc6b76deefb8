/* SPDX-License-Identifier: Apache-2.0
 *
 * What communication costs a user's job, and the setting that gets it back: a price, a race of the
 * settings for the job's link, and a proof of the winner in launches that did not choose it.
 */
#pragma once

#include "base/cli.h"
#include "base/text.h"

#include <stdbool.h>

struct tune_options {
    const char *platform, *out;
    const char *minutes, *worth, *memory; /* numbers; "1.5", "1%", "10%" */
    const char *candidates;               /* a file; NULL: none */
    const char *only; /* words with commas, one of which a label must contain; NULL: all */
    const char *emit; /* "env" or "pytorch" */
    const char *arms, *launches; /* files of settings that replace the table; NULL: none */
    const char *library;         /* another file of NCCL; NULL: none */
    struct cli_int proofs, seed;
    const char
        *keep; /* "yes", or minutes between the checkpoints of the job; NULL: it is thrown away */
    bool dry_run, no_price;
};

/* GS_OK: there is an answer. */
int tune_job(const struct tune_options *o, char **command);
/* Goes on with a run that was interrupted. commands: the user has read the command of the run. */
int tune_resume(const char *dir, bool commands);
bool tune_is_run(const char *dir);
/* What tune printed of a run of it, or of each below the folder of a platform, and where the numbers are recorded. Adds
 * the names of these recordings. */
int tune_print(const char *path, struct words *runs);
/* Writes its bars as SVG. */
int tune_draw(const char *dir, const char *file);
