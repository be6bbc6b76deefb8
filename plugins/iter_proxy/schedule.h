/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns a mode into the tasks of one step (backend.h):
 *   compute     A  every GEMM
 *   comm        B  every bucket, at once
 *   sequential  C  every GEMM, then every bucket
 *   overlapped  D  GEMMs and buckets at the same time, by `issue`:
 *     after   The first third of the GEMMs is the forward pass. The rest is the backward pass,
 *             split evenly between the buckets. A bucket is issued after its share, as in
 *             data-parallel training. No GEMM overlaps the last bucket.
 *     beside  All GEMMs are split between the buckets. A bucket is issued when its share begins, as
 *             if the gradients of the previous micro-batch were reduced.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include "iter_proxy/backend.h"

/* False: out of memory. The caller frees schedule->task. */
bool schedule_make(struct proxy_schedule *schedule, const struct proxy_cell *cell);

/* Does the schedule have a task with this verb? */
bool schedule_has(const struct proxy_schedule *schedule, enum proxy_verb verb);

#endif
