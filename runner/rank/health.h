/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads conditions that may disturb a measurement, before and after each block: load, clocks,
 * temperature, power, throttle reasons. Each kind of hardware is a source in the table at the end
 * of health.c; the fabric also sets NCCL's variables. And binds a rank to the processors near its
 * GPU.
 */
#pragma once

#include "launch/launcher.h"
#include "plan/plan.h"
#include "rank/team.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* [launch] bind = gpu: binds each rank to the processors near its GPU, before MPI and CUDA start
 * threads. The header's hosts record the result. A rank that cannot be bound measures unbound, and
 * records why. */

struct gpu_binding {
    bool enabled;
    char gpu[24]; /* PCI address, "0000:41:00.0"; "": no GPU found */
    struct numa numa;
};

void binding_take(struct gpu_binding *b, const struct plan *p, int local_rank);
/* Adds "bound": {gpu, numa, cpus} or {gpu, why}; nothing if binding is off. */
void binding_describe(const struct gpu_binding *b, json_t *host);

#define HEALTH_SOURCES_MAX 8
struct health {
    void *self[HEALTH_SOURCES_MAX];
    bool open[HEALTH_SOURCES_MAX];
};

void health_open(struct health *h, const struct team *team);
void health_close(struct health *h);
void health_describe(const struct health *h, json_t *host);

/* Collective. Rank 0 gets {"RANK": {…}, …} for ranks with readings; the others get NULL. */
json_t *health_read(const struct health *h, const struct team *team);
