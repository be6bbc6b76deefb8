/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulated compute of a training between synchronisations: a wait, or GEMMs on a second thread.
 * Meanwhile the calling thread drives the synchronisation.
 */
#pragma once

#include "wan_sync/sync/sync.h"

struct compute;

/* NULL: no memory, or no thread. `seed`: seed of the GEMM's operands. */
struct compute *compute_open(const struct cell *c, uint64_t seed);
void compute_close(struct compute *k);
/* Runs one step, of which `owed_s` seconds were already spent. Adds the compute time to *took_s:
 * the time of the GEMMs, or the configured time. False: the synchronisation failed. */
bool compute_step(struct compute *k, struct sync *s, double owed_s, double *took_s);
/* True: the result of the GEMMs is right. */
bool compute_check(const struct compute *k);
