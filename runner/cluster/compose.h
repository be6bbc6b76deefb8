/* SPDX-License-Identifier: Apache-2.0
 *
 * From plans to a campaign: which tasks there are, in which arrays, by which scripts.
 */
#ifndef GS_COMPOSE_H
#define GS_COMPOSE_H

#include "cluster/campaign.h"
#include "plan/plan.h"

/* Plans of one shape of resources, for one array or, where it has more tasks than the cluster
 * allows, some. */
struct shape {
    char *text; /* script_shape */
    double time_s;
    size_t *plans, n; /* in `plans` of compose_shapes */
};
struct shapes {
    struct shape *v;
    size_t n;
};

/* GS_OK or GS_USAGE, every fault reported. */
int compose_shapes(struct shapes *s, struct plan *const *plans, size_t n);
/* Held against the partitions: nodes, time; a limit of time that only the worst case reaches is
 * taken over. GS_OK or reported. */
int compose_check(struct shapes *s, struct plan *const *plans);
void shapes_free(struct shapes *s);

/* Adds the tasks and arrays of runs, which are the plans in their order; an array has fewer indices
 * than `array_max`. `script` is given each array's name and text. */
int compose_tasks(struct campaign *c, const struct shapes *s, struct plan *const *plans,
                  long array_max,
                  int (*script)(const struct campaign *c, const char *name, const char *text));

#endif
