/* SPDX-License-Identifier: Apache-2.0
 *
 * The job script, which users may read and edit.
 * Composes a campaign from plans: its tasks, arrays and job scripts.
 */
#pragma once

#include "base/text.h"
#include "cluster/campaign.h"
#include "plan/plan.h"

/* Resource, module and setup lines of a plan, as script text. GS_OK, or GS_USAGE reported at its
 * key: a value that is not safe in a #SBATCH line. */
int script_shape(struct text *t, const struct plan *p);

struct script {
    const char *shape;    /* from script_shape */
    const char *campaign; /* folder; its last part is the id */
    size_t first, n;      /* tasks */
    double time_s;
};
void script_text(struct text *t, const struct script *s);

/* Maximum and minimum seconds for `launches` launches, with their start. The maximum is [slurm] time,
 * if it is set. The minimum assumes that every group stops as early as it can. */
double script_time_most(const struct plan *p, int launches);
double script_time_least(const struct plan *p, int launches);

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
