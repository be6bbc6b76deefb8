/* SPDX-License-Identifier: Apache-2.0
 *
 * From the cells of a sweep, in its order, to the groups of a plan.
 */
#ifndef GS_PLAN_GROUPS_H
#define GS_PLAN_GROUPS_H

#include "plan/plan.h"

struct draft {
    struct cell cell;
    char group[PLAN_ID]; /* cells with equal ids form a group */
    size_t place;        /* in the sweep */
    size_t first;        /* place of its group's first cell */
};

/* Moves the drafts' cells into p->cells and p->groups: groups in the order of their first cell, a
 * config_free cell once. GS_OK, or GS_USAGE, reported: the same cell twice, a baseline that no
 * group has. The cells that were not moved are the drafts' still: draft_free() in either case. */
int plan_group(struct plan *p, struct draft *drafts, size_t n);
void draft_free(struct draft *drafts, size_t n);

void cell_free(struct cell *c);

/* How often a block visits this cell of the group: the baseline of a comparison of two configs or
 * more twice, every other cell once. */
int group_copies(const struct plan *p, const struct group *g, const struct cell *c);

#endif
