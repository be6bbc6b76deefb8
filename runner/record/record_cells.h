/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of a recording about the cells of a plan, for those who write one (record.h).
 */
#pragma once

#include "plan/plan.h"

#include <jansson.h>

json_t *record_note_line(const char *cell, int copy, const char *key, const char *value);
/* prepared: position in the order of the group, from 1. */
json_t *record_cell_line(const struct plan *p, const struct group *g, const struct cell *c,
                         int copy, unsigned iters, size_t prepared);
/* What a group line says about one of its cells. half_width NaN: unknown. */
json_t *record_closed_cell(const struct cell *c, int copy, size_t blocks, bool converged,
                           double half_width);
json_t *record_group_line(const struct group *g, int blocks, json_t *cells);
