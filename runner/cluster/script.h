/* SPDX-License-Identifier: Apache-2.0
 *
 * The job script, which users may read and edit.
 */
#pragma once

#include "base/text.h"
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
