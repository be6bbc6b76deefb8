/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run folder holds, indexed for reading: its cells and groups in the order of the plan, and
 * where in which recording the blocks of each group start. Needs neither the plugin nor, for what
 * was imported, a plan.
 */
#ifndef GS_RECORDED_H
#define GS_RECORDED_H

#include "record/recorded_cells.h"

#include <stdbool.h>
#include <stddef.h>

/* GS_OK or reported: damage, or files that are not as the manifest, where there is one, says. *out
 * is NULL with GS_OK when the folder has no line recorded yet. */
int recorded_read(struct recorded **out, const char *dir);
void recorded_free(struct recorded *r);

/* The span whose blocks of the group count in this launch (reduce.h), or NULL; *closed says whether
 * its attempt closed the group. */
const struct rec_span *recorded_span(const struct recorded *r, size_t group, int launch,
                                     bool *closed);

#endif
