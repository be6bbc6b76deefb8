/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the files that users name: a config by its bare name, a run by its id. Suggests the nearest
 * name for a typo.
 */
#pragma once

#include "base/err.h"
#include "base/text.h"

/* The path of a config; the caller frees it. Tries the file `name`, then NAME.ini; a bare name also
 * in configs/ and among the installed configs. If none exists: a copy of `name`. */
char *locate_config(const char *name);

/* The folder of a run; the caller frees it. Tries the folder `name`; then, for a bare run id, the
 * folders below data/raw, and for "PLATFORM/WORKLOAD/ID" data/raw itself. If none exists: a copy of
 * `name`. */
char *locate_run(const char *name);

#define LOCATE_DATA "data/raw"
/* The folder of the recordings of a platform, data/raw/NAME; the caller frees it. NULL: there is
 * none, or `name` is the path of something else. */
char *locate_platform(const char *name);

/* LOCATE_RUN is a run or a platform, LOCATE_ONE_RUN a run only, for which a platform is refused. */
enum {
    LOCATE_FILE = 0,
    LOCATE_CONFIG = 1,
    LOCATE_RUN = 2,
    LOCATE_CAMPAIGN = 8,
    LOCATE_ONE_RUN = 16
};
/* Prints "PATH: cannot be read: REASON, did you mean 'NEAREST'?", with the reason from errno. If no
 * name is near, it prints what the argument may be instead, by `names` (a sum of LOCATE_…). Returns
 * code. */
int locate_failed(enum gs_exit code, const char *path, unsigned names);

/* Bare names, sorted; words_free. */
void locate_configs(struct words *names);   /* in ./configs and installed */
void locate_runs(struct words *names);      /* ids below data/raw */
void locate_platforms(struct words *names); /* that have a recording below data/raw */

/* The folder of the installed configs; the caller frees it. */
char *locate_installed_configs(void);
