/* SPDX-License-Identifier: Apache-2.0
 *
 * `exclude = dtype=int32 op=max, size=8`: the cells that a section leaves out. A cell is left out
 * when it matches every term of some clause.
 */
#ifndef GS_SWEEP_EXCLUDE_H
#define GS_SWEEP_EXCLUDE_H

#include "plan/sweep.h"

/* Fills s->excludes; s->axes must be there. GS_OK or GS_USAGE, every fault reported. */
int sweep_read_excludes(struct sweep *s, const struct config_entry *e);
bool sweep_excluded(const struct sweep *s, const void *cell);
void sweep_free_excludes(struct sweep *s);

#endif
