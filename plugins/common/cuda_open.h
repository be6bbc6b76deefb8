/* SPDX-License-Identifier: Apache-2.0
 *
 * What a backend on GPUs opens, whatever it measures: its GPU, NCCL, what a measurement is timed
 * with, and the notes of both in the recording.
 */
#ifndef CUDA_OPEN_H
#define CUDA_OPEN_H

#include "common/cuda_comm.h"

/* Both zeroed by the caller. Collective. cuda_close() undoes it, whatever came of it. */
enum wl_status cuda_open(struct gpu *g, struct comms *c, const struct wl_host *host);
/* A caller whose buffers communicators use has called comms_close() before it frees them. */
void cuda_close(struct gpu *g, struct comms *c);

/* From another thread: the waiting one ends the communicators itself; one that does not within the
 * grace is stuck in NCCL. */
void cuda_abort(struct gpu *g, struct comms *c);

#endif
