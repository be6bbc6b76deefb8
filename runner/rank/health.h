/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads conditions that may disturb a measurement, before and after each block: load, clocks,
 * temperature, power, throttle reasons. With several nodes it also sets NCCL's variables for the
 * fabric. And binds a rank to the processors near its GPU.
 */
#pragma once

#include "launch/launcher.h"
#include "plan/plan.h"
#include "rank/team.h"
#include "record/nvml.h"

#include <glob.h>
#include <jansson.h>
#include <stdbool.h>

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

struct health {
    bool speaks; /* reads what the ranks of its node share */
    glob_t frequencies, temperatures;
    double wall_s, busy_s,
        used_s;        /* when the launch began: the clock, and the processor time of the
                                    * host's programs and of this rank */
    struct nvml *nvml; /* of this rank's GPU; NULL: none */
    json_t *fabric;
};

void health_open(struct health *h, const struct team *team);
void health_close(struct health *h);
void health_describe(const struct health *h, json_t *host);

/* Collective. Rank 0 gets {"RANK": {…}, …} for ranks with readings; the others get NULL. */
json_t *health_read(const struct health *h, const struct team *team);
