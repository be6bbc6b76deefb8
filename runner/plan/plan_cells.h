/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the cells of a sweep, with their ids, labels and shapes, in groups.
 */
#pragma once

#include "plan/plan.h"

/* Fills the cells and groups of a plan whose config, section, plugin and settings are set. GS_OK or
 * a code, reported: the sweep has a fault, or the plugin's describe() rejects a cell. */
int plan_cells(struct plan *p);
