/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists the measured and missing cells of a run folder for status and resume. Reads plan.json and
 * the recordings only, without the plugin, which is fast for many cells.
 */
#pragma once

#include "record/ledger.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct inventory {
    json_t *plan;
    size_t n_cells, n_groups;
    int launches;
    const char **cells; /* ids in plan order; strings of `plan` */
    size_t *group_of;   /* by cell */
    bool *closed;       /* [launch - 1][group] */
    /* [launch - 1][cell]: the failure that gave the cell up, or NULL. */
    const struct ledger_fail **gone;
    struct ledger *ledger;
};

/* GS_OK or reported. inventory_free in both cases. */
int inventory_take(struct inventory *v, const char *dir, int launches, int retries);
void inventory_free(struct inventory *v);

/* Is the cell neither measured nor given up in this launch? */
bool inventory_lacks(const struct inventory *v, int launch, size_t cell);
/* Number of groups with a missing cell in this launch. */
size_t inventory_missing(const struct inventory *v, int launch);
