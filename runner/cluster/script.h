/* SPDX-License-Identifier: Apache-2.0
 *
 * The job script: what a person reads, may edit, and Slurm runs.
 */
#ifndef GS_SCRIPT_H
#define GS_SCRIPT_H

#include "base/text.h"
#include "plan/plan.h"

/* The resources, modules and setup lines that plans of one shape share, as script text. GS_OK or
 * GS_USAGE, reported at its key: a value that is not plain enough for a #SBATCH line. */
int script_shape(struct text *t, const struct plan *p);

struct script {
    const char *shape;    /* of script_shape */
    const char *campaign; /* its folder; the id is its last part */
    size_t first, n;      /* tasks */
    double time_s;
};
void script_text(struct text *t, const struct script *s);

/* Seconds that `launches` of them take at most, and when every group stops at its first chance;
 * what starting takes included. */
double script_time_most(const struct plan *p, int launches);
double script_time_least(const struct plan *p, int launches);

#endif
