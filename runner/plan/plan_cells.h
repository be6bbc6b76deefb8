/* SPDX-License-Identifier: Apache-2.0
 *
 * From a sweep to cells with their ids, labels and shapes, in groups.
 */
#ifndef GS_PLAN_CELLS_H
#define GS_PLAN_CELLS_H

#include "plan/plan.h"

/* Fills cells and groups of a plan whose config, section, plugin and settings are set. GS_OK or
 * reported: what the sweep or the plugin's describe() refuses. */
int plan_cells(struct plan *p);

#endif
