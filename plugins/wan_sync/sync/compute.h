/* SPDX-License-Identifier: Apache-2.0
 *
 * What a training computes between synchronisations, while the thread that calls it keeps the
 * synchronisation going: time that passes, or GEMMs on a thread beside.
 */
#ifndef COMPUTE_H
#define COMPUTE_H

#include "wan_sync/sync/sync.h"

struct compute;

/* NULL: no memory, or no thread. `seed`: of the GEMM's operands. */
struct compute *compute_open(const struct cell *c, uint64_t seed);
void compute_close(struct compute *k);
/* One step; `owed_s` of it was spent already. Adds the seconds of computation to *took_s: those of
 * the GEMMs, or those that were asked for. False: the synchronisation failed. */
bool compute_step(struct compute *k, struct sync *s, double owed_s, double *took_s);
/* Is what was computed right? */
bool compute_check(const struct compute *k);

#endif
