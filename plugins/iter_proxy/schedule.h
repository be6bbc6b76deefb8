/* SPDX-License-Identifier: Apache-2.0
 *
 * From a mode to the tasks of one iteration (backend.h), in the terms of measurement:
 *   compute     A  every GEMM
 *   comm        B  every bucket, at once
 *   sequential  C  every GEMM, then every bucket
 *   overlapped  D  issue = after: the first third of the GEMMs is the forward pass; the rest, the
 *                  backward pass, is shared out between the buckets, and a bucket is issued after
 * its share, as data-parallel training does. The last bucket has nothing to hide behind. issue =
 * beside: all GEMMs are shared out, and a bucket is issued when its share begins, as when the
 * gradients of the micro-batch before are reduced.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include "iter_proxy/backend.h"

/* False without memory. The tasks are the caller's: free(schedule->task). */
bool schedule_make(struct proxy_schedule *schedule, const struct proxy_cell *cell);

/* Does it have a task of that verb? */
bool schedule_has(const struct proxy_schedule *schedule, enum proxy_verb verb);

#endif
