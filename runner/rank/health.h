/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads conditions that may disturb a measurement, before and after each block: load, and the GPU's
 * clock, temperature, power, throttle reasons. With several nodes it also sets NCCL's variables for the
 * fabric. And binds a rank to the processors near its GPU.
 */
#pragma once

#include "launch/launcher.h"
#include "plan/plan.h"
#include "rank/team.h"
#include "record/nvml.h"

#include <jansson.h>
#include <stdbool.h>

/* [launch] bind = gpu: binds this rank to the processors near its GPU, before MPI and CUDA start threads.
 * {gpu, numa, cpus} for the header of the recording, or {gpu, why}: it measures unbound. NULL: binding is
 * off. */
json_t *bind_to_gpu(const struct plan *p, int local_rank);

struct health {
    bool speaks; /* reads what the ranks of its node share, and describes the fabric */
    double wall_s, busy_s,
        used_s;        /* when the launch began: the clock, and the processor time of the
                                    * host's programs and of this rank */
    struct nvml *nvml; /* of this rank's GPU; NULL: none */
    json_t *fabric;    /* of this node */
};

/* With several nodes NCCL's variables are set as fabric_json chooses, but those of the environment win. */
void health_open(struct health *h, const struct team *team);
void health_close(struct health *h);

/* Collective. Rank 0 gets {"RANK": {…}, …} for ranks with readings; the others get NULL. */
json_t *health_read(const struct health *h, const struct team *team);
