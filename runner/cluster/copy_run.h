/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies a run folder and computes its checksums in one pass.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Copies the files of a run (config.ini, plan.json, recordings, logs) into the empty folder `to`. A
 * link, or a recording that `check` refuses, is an error. `final`: writes a manifest and makes the
 * files read-only. Adds the copied size to *bytes. GS_OK or reported. */
int copy_run_folder(const char *from, const char *to, bool final, uint64_t *bytes);

/* Removes a folder and its files; ignores errors. */
void copy_run_remove(const char *dir);
