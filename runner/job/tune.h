/* SPDX-License-Identifier: Apache-2.0
 *
 * What communication costs a user's job, and the setting that gets it back: a price, a race of the
 * settings for the job's link, and a proof of the winner in launches that did not choose it.
 */
#pragma once

#include "job/tune_setting.h"

#include <stdbool.h>

/* GS_OK: there is an answer. */
int tune_job(const struct tune_options *o, char **command);
/* Goes on with a run that was interrupted. commands: the user has read the command of the run. */
int tune_resume(const char *dir, bool commands);
bool tune_is_run(const char *dir);
/* What tune printed of a run of it, or of each below the folder of a platform, and where the numbers are recorded. Adds
 * the names of these recordings. */
int tune_print(const char *path, struct words *runs);
/* The folder of the last tune of the platform, if tune recorded this run; the caller frees it. NULL: it did not. */
char *tune_latest(const char *run);
/* Writes its bars as SVG. */
int tune_draw(const char *dir, const char *file);
