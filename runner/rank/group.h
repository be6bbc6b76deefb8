/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures one group: prepares its cells together, warms them up, visits them block after block
 * until the result is precise enough, and releases them. A visit is the samples of one slot in one
 * block.
 */
#pragma once

#include "rank/session.h"

/* Buffers for all visits of a session: two blocks, which begin at `mine` and `values`. */
struct visit {
    size_t cap, metrics;
    int64_t *mine, *all;          /* to reduce: ROWS rows of samples, and a result */
    double *values, *reduced;     /* one row for each metric after the first */
    double *skew, *spread, *time; /* of the samples that are kept, over the ranks */
    double *kept;                 /* the same, by metric */
};

/* The caller frees both. */
void visit_begin(struct visit *v, const struct session *r);

/* Collective. Measures plan->groups[index]. The group is closed in the recording unless the result is
 * BROKEN or HUNG, or the run was stopped before the group was done. */
enum course group_measure(struct session *r, struct visit *v, size_t index);
