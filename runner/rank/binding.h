/* SPDX-License-Identifier: Apache-2.0
 *
 * [launch] bind = gpu: binds each rank to the processors near its GPU, before MPI and CUDA start
 * threads. The header's hosts record the result. A rank that cannot be bound measures unbound, and
 * records why.
 */
#pragma once

#include "launch/numa.h"
#include "plan/plan.h"

#include <jansson.h>

struct gpu_binding {
    bool enabled;
    char gpu[24]; /* PCI address, "0000:41:00.0"; "": no GPU found */
    struct numa numa;
};

void binding_take(struct gpu_binding *b, const struct plan *p, int local_rank);
/* Adds "bound": {gpu, numa, cpus} or {gpu, why}; nothing if binding is off. */
void binding_describe(const struct gpu_binding *b, json_t *host);
