/* SPDX-License-Identifier: Apache-2.0
 *
 * One GPU of one rank: found, opened, waited for, filled and checked. Errors are told to
 * host->fail() in one line that names the remedy, then returned: WL_SKIP where this machine cannot,
 * WL_FAIL where it should have.
 */
#ifndef CUDA_GPU_H
#define CUDA_GPU_H

#include "common/cuda_kernels.h"
#include "workload.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>

#define HOST_FAIL(host, ...) (host)->fail((host)->ctx, __VA_ARGS__)

struct gpu {
    const struct wl_host *host;
    int device, multiprocessors;
    size_t l2_B;
    cudaStream_t stream; /* of the highest priority */
    void *scratch;       /* 4 x L2, of gpu_flush_prepare */
    _Atomic bool aborted;
    /* Made by cuda_open (cuda_open.h), which a steady-state sample begins with and is timed by. */
    float *align; /* 2 zeros on the device */
    cudaEvent_t start, stop;
};

/* Ranks that must agree before a collective step: each brings its own outcome, all return the worst
 * one, and all have told its reason. `why`: this rank's, when status is not WL_OK. */
enum wl_status host_agree(const struct wl_host *host, enum wl_status status, const char *why);

/* Picks a GPU of this rank's own, checks that no other rank has it. Collective. */
enum wl_status gpu_open(struct gpu *g, const struct wl_host *host);
void gpu_close(struct gpu *g);
/* Notes which GPUs of a node reach each other's memory, with a warning where some do not, and the
 * remedy: NCCL goes on, slowly. Collective. */
void gpu_note_peers(const struct gpu *g);

/* Says what a CUDA call made of it, e.g. gpu_try(g, cudaMalloc(&p, n), "cudaMalloc"). */
enum wl_status gpu_try(struct gpu *g, cudaError_t error, const char *call);

/* Device memory, or `why` (what was asked, what is free). */
cudaError_t gpu_alloc(void **p, size_t bytes, char *why, size_t n);

/* Bytes; SIZE_MAX: not known. */
size_t gpu_free_memory(void);
/* So many bytes were refused: what is free, and what to do, to `why`. */
void gpu_say_memory(size_t bytes, char *why, size_t n);

/* Overwrites the L2 cache: queued on the stream. gpu_flush_prepare() was called before, once or
 * more; it fails as gpu_alloc() does. */
cudaError_t gpu_flush_prepare(struct gpu *g, char *why, size_t n);
enum wl_status gpu_flush(struct gpu *g);

/* Checking is queued behind the operation, since the next one may reuse its buffers, and read when
 * asked for. A record is device memory of the caller's. */
enum wl_status gpu_record_new(struct gpu *g, struct gpu_mismatch **record);
cudaError_t gpu_record_clear(struct gpu_mismatch *record, cudaStream_t stream);
/* WL_FAIL names a wrong element; `what` says of which buffer. Waits for the stream. */
enum wl_status gpu_record_read(struct gpu *g, const struct gpu_mismatch *record,
                               cudaStream_t stream, const char *what);

struct gpu_words gpu_words(const uint64_t words[PAYLOAD_PERIOD]);
uint64_t gpu_now_ns(void); /* CLOCK_MONOTONIC */

#endif
