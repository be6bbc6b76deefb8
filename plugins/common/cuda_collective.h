/* SPDX-License-Identifier: Apache-2.0
 *
 * NCCL's collectives on the buffers of one operation: inputs, the call, and the check of its result.
 */
#pragma once

#include "common/collective.h"
#include "common/cuda_comm.h"
#include "common/payload.h"

/* `in` and `out` below are buffers of `count` elements (collective.h); in place they are one. */
struct nccl_operation {
    enum collective collective;
    enum payload_type type;
    size_t count; /* elements */
    bool in_place;
};

const char *nccl_operation_name(const struct nccl_operation *o); /* "ncclAllGather" */

/* Queues the operation on gpu.stream. */
ncclResult_t nccl_operation_queue(struct comms *c, struct comm *comm,
                                  const struct nccl_operation *o, char *in, char *out);

/* Queues the writing of this rank's input. `salt` is the same on all ranks. */
cudaError_t nccl_operation_fill(struct gpu *g, const struct nccl_operation *o, char *in,
                                uint64_t salt);
/* Queues the check of every element of this rank's result, after so many operations on the same
 * buffers. False: in place, their result is not exact, and nothing was queued. */
bool nccl_operation_check(struct gpu *g, const struct nccl_operation *o, const char *out,
                          uint64_t salt, uint64_t operations, struct gpu_mismatch *record,
                          cudaError_t *error);

/* One operation, untimed: does NCCL accept it, and with what does it run it? Collective. */
enum wl_status nccl_operation_try(struct comms *c, struct comm *comm,
                                  const struct nccl_operation *o, char *in, char *out,
                                  cudaEvent_t done);
