/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes imported tests as run folders like any other, but without plan.json: a header marked
 * "imported", the cells, and a block for each sample. config.ini is there if the user named one.
 */
#pragma once

#include "import/import_launch.h"

/* Writes a run for each file; tests of one file with the same cells are launches of one run. With
 * as_launches, files of the same platform, workload, ranks and contention are launches of one run;
 * their configs may differ. Prints the folder of each run. GS_OK; or reported: a fact is missing or
 * contradicts the file, two files have the same bytes (GS_USAGE), or a folder cannot be written.
 * Runs that were written before that are whole. */
int import_write(struct imported *files, size_t n, const char *out, bool as_launches);
