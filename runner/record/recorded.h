/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a run folder and indexes it: its cells and groups in plan order, and where the blocks of
 * each group start in the recordings. Needs no plugin, and no plan for an imported run.
 */
#pragma once

#include "record/recorded_cells.h"

#include <stdbool.h>
#include <stddef.h>

/* GS_OK, or reported: damaged, or a file differs from the manifest. *out is NULL with GS_OK if no
 * line is recorded yet. */
int recorded_read(struct recorded **out, const char *dir);
void recorded_free(struct recorded *r);
AUTO_POINTER(struct recorded, recorded_free)

/* The span whose blocks count for the group in this launch (summary.h), or NULL. *closed: its attempt
 * closed the group. */
const struct rec_span *recorded_span(const struct recorded *r, size_t group, int launch,
                                     bool *closed);
