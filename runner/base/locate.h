/* SPDX-License-Identifier: Apache-2.0
 *
 * Files as a user names them: a config by its bare name, a run by its id, a typo by what is there.
 */
#ifndef GS_LOCATE_H
#define GS_LOCATE_H

#include "base/err.h"
#include "base/text.h"

/* The config that `name` stands for, the caller's: the file itself; else NAME.ini; else, of a bare
 * name, that of configs/ here or of the installed ones. When there is none, `name`. */
char *locate_config(const char *name);

/* The folder of a run, the caller's: the folder itself; else, of a bare run id, the one below
 * data/raw. When there is none, `name`. */
char *locate_run(const char *name);

enum { LOCATE_FILE = 0, LOCATE_CONFIG = 1, LOCATE_RUN = 2, LOCATE_TABLE = 4 };
/* "PATH: cannot be read: REASON, did you mean 'NEAREST'?", the reason from errno; where nothing is
 * near, what `names` (LOCATE_…, added) says that a bare word may be, or who makes such a table.
 * Returns code. */
int locate_failed(enum gs_exit code, const char *path, unsigned names);

/* Bare names, sorted; words_free. */
void locate_configs(struct words *names); /* of ./configs and the installed ones */
void locate_runs(struct words *names);    /* ids below data/raw */

/* Where the configs that came with the program are; the caller's. */
char *locate_installed_configs(void);

#endif
