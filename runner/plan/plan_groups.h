/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorts the cells of a sweep into the groups of a plan.
 */
#pragma once

#include "plan/plan.h"

struct draft {
    struct cell cell;
    char group[PLAN_ID]; /* cells with equal ids form a group */
    size_t place;        /* in the sweep */
    size_t first;        /* place of its group's first cell */
};

/* Moves the drafts' cells into p->cells and p->groups: groups in the order of their first cell, a
 * config_free cell once. GS_OK, or GS_USAGE, reported: the same cell twice, a baseline that no
 * group has. Call draft_free() in both cases: it frees the cells that were not moved. */
int plan_group(struct plan *p, struct draft *drafts, size_t n);
void draft_free(struct draft *drafts, size_t n);
