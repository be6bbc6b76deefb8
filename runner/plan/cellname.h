/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GS_CELLNAME_H
#define GS_CELLNAME_H

#include "plan/plan.h"

/* The cell for people: the "key=value" words of its parameters that not all cells of the plan
 * share, and its id: "size=16 algorithm=ring (347751c7b5e48f63)". Returns buf. */
const char *cell_name(const struct plan *p, const struct cell *cell, char *buf, size_t n);

/* NULL: no such cell. */
const struct cell *cell_find(const struct plan *p, const char *id);

#endif
