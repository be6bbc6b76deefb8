/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU of one rank: finds and opens it, allocates its memory, and checks results.
 *
 * A function that fails calls host->fail() with one line that names the remedy. It returns WL_SKIP
 * if this machine cannot do it, WL_FAIL for any other failure.
 */
#pragma once

#include "common/clock.h"
#include "common/cuda_kernels.h"
#include "common/host.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>

struct gpu {
    const struct wl_host *host;
    int device, multiprocessors;
    size_t l2_B;
    cudaStream_t stream; /* of the highest priority */
    _Atomic bool aborted;
    /* From cuda_open() (cuda_comm.h): they align the start of a steady-state sample and time it. */
    float *align; /* zeros on the device: 1 + ranks */
    cudaEvent_t start, stop;
};

/* Picks a GPU for this rank and checks that no other rank uses it. Collective. */
enum wl_status gpu_open(struct gpu *g, const struct wl_host *host);
/* Notes which GPUs of a node reach each other's memory. If some do not, NCCL is slow: warns and
 * names the remedy. Collective. */
void gpu_note_peers(const struct gpu *g);

/* Reports the error of a CUDA call, e.g. gpu_try(g, cudaMalloc(&p, n), "cudaMalloc"). */
enum wl_status gpu_try(struct gpu *g, cudaError_t error, const char *call);

/* Is CUDA lost to this process? Some errors (of a kernel, of the memory) it keeps: every later call
 * returns them too. Asked after a call that failed. */
bool gpu_lost(const struct gpu *g);
/* The status of a backend's call for the runner: WL_LOST after a failure that CUDA keeps. */
enum wl_status gpu_status(const struct gpu *g, enum wl_status status);

/* Allocates device memory; on failure `why` has the bytes requested and free. */
cudaError_t gpu_alloc(void **p, size_t bytes, char *why, size_t n);

/* After `bytes` could not be allocated: writes the free memory and the remedy to `why`. */
void gpu_say_memory(size_t bytes, char *why, size_t n);

/* A check is queued behind the operation, because the next operation may reuse its buffers; its
 * result is read later. A record is device memory that the caller owns; `why` is CUDA's error. */
enum wl_status gpu_record_new(struct gpu_mismatch **record, char *why, size_t n);
cudaError_t gpu_record_clear(struct gpu_mismatch *record, cudaStream_t stream);
/* Waits for the stream. WL_FAIL: reports a wrong element; `what` names the buffer. */
enum wl_status gpu_record_read(struct gpu *g, const struct gpu_mismatch *record,
                               cudaStream_t stream, const char *what);

struct gpu_words gpu_words(const uint64_t words[PAYLOAD_WORDS]);
