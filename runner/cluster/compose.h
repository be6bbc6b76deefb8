/* SPDX-License-Identifier: Apache-2.0
 *
 * Composes a campaign from plans: its tasks, arrays and job scripts.
 */
#pragma once

#include "cluster/campaign.h"
#include "plan/plan.h"

/* Plans with equal resources. They share one array, or several if the cluster limits its size. */
struct shape {
    char *text; /* from script_shape */
    double time_s;
    size_t *plans, n; /* indices into `plans` of compose_shapes */
};
struct shapes {
    struct shape *v;
    size_t n;
};

/* Groups plans by resources. GS_OK, or GS_USAGE with every fault reported. */
int compose_shapes(struct shapes *s, struct plan *const *plans, size_t n);
/* Checks nodes and time against the partitions. Lowers the time of a shape to the partition's limit
 * if only its worst case exceeds that. GS_OK or reported. */
int compose_check(struct shapes *s, struct plan *const *plans);
void shapes_free(struct shapes *s);

/* Adds tasks and arrays; plans[i] is run i. An array has fewer than `array_max` indices. `script`
 * receives the file name and text of each job script. */
int compose_tasks(struct campaign *c, const struct shapes *s, struct plan *const *plans,
                  long array_max,
                  int (*script)(const struct campaign *c, const char *name, const char *text));
