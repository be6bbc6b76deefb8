/* SPDX-License-Identifier: Apache-2.0
 *
 * One visit: the samples of one slot in one block. Between two samples this code does not allocate,
 * write, or communicate. All samples are reduced over the ranks together afterwards.
 */
#pragma once

#include "rank/session.h"

/* Buffers for all visits of a session. */
struct visit {
    size_t cap, metrics;
    int64_t *mine, *all;          /* to reduce: ROWS rows of samples, and a result */
    double *values, *reduced;     /* one row for each metric after the first */
    double *skew, *spread, *time; /* of the samples that are kept, over the ranks */
    double *kept;                 /* the same, by metric */
};

void visit_begin(struct visit *v, const struct session *r);
void visit_end(struct visit *v);

/* Throws `discard` samples away, then fills s->visited with n (at most what [measure] samples
 * says); samples that a rank calls invalid are taken again, up to 10 times. Collective; returns the
 * worst result of the ranks, and in *mine this rank's own. */
enum call_result visit(struct visit *v, struct session *r, struct slot *s, size_t discard, size_t n,
                       enum call_result *mine);
