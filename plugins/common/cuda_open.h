/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens the GPU, NCCL and the events that time a sample, for every GPU backend. Notes the GPU and
 * NCCL in the recording.
 */
#pragma once

#include "common/cuda_comm.h"

/* The caller zeroes both structs. Collective. Call cuda_close() even after a failure. */
enum wl_status cuda_open(struct gpu *g, struct comms *c, const struct wl_host *host);
/* Call comms_close() before freeing a buffer that a communicator uses, then cuda_close(). */
void cuda_close(struct gpu *g, struct comms *c);

/* Call it from another thread. The waiting thread then ends the communicators itself. If it has not
 * within a grace period, it hangs in NCCL, and cuda_abort() ends them. */
void cuda_abort(struct gpu *g, struct comms *c);
