/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies a run folder in one pass: what is read is hashed and written.
 */
#ifndef GS_COPY_RUN_H
#define GS_COPY_RUN_H

#include <stdbool.h>
#include <stdint.h>

/* Every file of a run (config.ini, plan.json, recordings, logs) into the empty folder `to`; other
 * files are left out. A link, and a recording that `check` refuses, are errors. `final`: with a
 * manifest and read-only. *bytes grows by what was copied. GS_OK or reported. */
int copy_run_folder(const char *from, const char *to, bool final, uint64_t *bytes);

/* Removes a folder of files; what fails is left. */
void copy_run_remove(const char *dir);

#endif
