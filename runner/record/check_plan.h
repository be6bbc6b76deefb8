/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan.json of a run folder, as recordings are checked against it.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct planned_cell {
    const char *id, *group;
};

struct check_plan {
    json_t *root; /* NULL: there is no plan.json, as in an imported run */
    char sha256[65];
    struct planned_cell *cells; /* sorted by id */
    size_t n;
};

/* GS_OK, or GS_FAILED, reported: plan.json is damaged, or config.ini is not the planned config. */
int check_plan_read(struct check_plan *p, const char *dir);
void check_plan_free(struct check_plan *p);

/* True also if there is no plan. */
bool check_plan_has(const struct check_plan *p, const char *cell, const char *group);
