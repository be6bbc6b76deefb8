/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run folder of a campaign holds and lacks, from its plan.json and its recordings, without
 * the plugin: what status and resume ask, fast for many cells.
 */
#ifndef GS_INVENTORY_H
#define GS_INVENTORY_H

#include "record/ledger.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct inventory {
    json_t *plan;
    size_t n_cells, n_groups;
    int launches;
    const char **cells;              /* ids, in plan order; the plan's strings */
    size_t *group_of;                /* by cell */
    bool *closed;                    /* [launch - 1][group] */
    const struct ledger_fail **gone; /* [launch - 1][cell]: the fail that gave it up, or NULL */
    struct ledger *ledger;
};

/* GS_OK or reported. inventory_free in both cases. */
int inventory_take(struct inventory *v, const char *dir, int launches, int retries);
void inventory_free(struct inventory *v);

/* Does the launch still owe this cell: neither measured nor given up? */
bool inventory_lacks(const struct inventory *v, int launch, size_t cell);
/* Groups of which a launch owes a cell. */
size_t inventory_missing(const struct inventory *v, int launch);

#endif
