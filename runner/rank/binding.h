/* SPDX-License-Identifier: Apache-2.0
 *
 * [launch] bind = gpu: each rank on the processors of its GPU's NUMA node, from before MPI and CUDA
 * start their threads. What came of it is in the header's hosts; a rank that cannot be bound
 * measures unbound and says why there.
 */
#ifndef GS_BINDING_H
#define GS_BINDING_H

#include "launch/numa.h"
#include "plan/plan.h"

#include <jansson.h>

struct gpu_binding {
    bool asked;
    char gpu[24]; /* its place on PCI, "0000:41:00.0"; "" no GPU found */
    struct numa numa;
};

void binding_take(struct gpu_binding *b, const struct plan *p, int local_rank);
/* Adds "bound": {gpu, numa, cpus} or {gpu, why}; nothing when it was not asked for. */
void binding_describe(const struct gpu_binding *b, json_t *host);

#endif
