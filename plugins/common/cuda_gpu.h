/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU of one rank: finds and opens it, allocates its memory, checks results, and keeps it busy
 * beside a measured operation.
 *
 * A function that fails calls host->fail() with one line that names the remedy. It returns WL_SKIP
 * if this machine cannot do it, WL_FAIL for any other failure.
 */
#pragma once

#include "common/clock.h"
#include "common/cuda_kernels.h"
#include "common/host.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdatomic.h>

struct gpu {
    const struct wl_host *host;
    int device, multiprocessors;
    size_t l2_B;
    cudaStream_t stream; /* of the highest priority */
    void *scratch;       /* 4 x L2, from gpu_flush_prepare() */
    _Atomic bool aborted;
    /* From cuda_open() (cuda_comm.h): they align the start of a steady-state sample and time it. */
    float *align; /* zeros on the device: 1 + ranks */
    cudaEvent_t start, stop;
};

/* Picks a GPU for this rank and checks that no other rank uses it. Collective. */
enum wl_status gpu_open(struct gpu *g, const struct wl_host *host);
void gpu_close(struct gpu *g);
/* Notes which GPUs of a node reach each other's memory. If some do not, NCCL is slow: warns and
 * names the remedy. Collective. */
void gpu_note_peers(const struct gpu *g);

/* Reports the error of a CUDA call, e.g. gpu_try(g, cudaMalloc(&p, n), "cudaMalloc"). */
enum wl_status gpu_try(struct gpu *g, cudaError_t error, const char *call);
/* What to do about an error that keeps a GPU from being had. */
const char *gpu_remedy(cudaError_t error);

/* Is CUDA lost to this process? Some errors (of a kernel, of the memory) it keeps: every later call
 * returns them too. Asked after a call that failed. */
bool gpu_lost(const struct gpu *g);
/* The status of a backend's call for the runner: WL_LOST after a failure that CUDA keeps. */
enum wl_status gpu_status(const struct gpu *g, enum wl_status status);

/* Captures what issue(arg) queues on g->stream, uploads the graph and launches it once, untimed. The
 * caller destroys *exec, also after a failure, if it is set. */
enum wl_status gpu_graph_make(struct gpu *g, enum wl_status (*issue)(void *arg), void *arg,
                              cudaGraphExec_t *exec);

/* Allocates device memory; on failure `why` has the bytes requested and free. */
cudaError_t gpu_alloc(void **p, size_t bytes, char *why, size_t n);

/* Free device memory in bytes; SIZE_MAX: unknown. */
size_t gpu_free_memory(void);
/* After `bytes` could not be allocated: writes the free memory and the remedy to `why`. */
void gpu_say_memory(size_t bytes, char *why, size_t n);

/* gpu_flush() queues a write over the whole L2 cache. Call gpu_flush_prepare() before, once or
 * more; it fails like gpu_alloc(). */
cudaError_t gpu_flush_prepare(struct gpu *g, char *why, size_t n);
enum wl_status gpu_flush(struct gpu *g);

/* A check is queued behind the operation, because the next operation may reuse its buffers; its
 * result is read later. A record is device memory that the caller owns; `why` is CUDA's error. */
enum wl_status gpu_record_new(struct gpu_mismatch **record, char *why, size_t n);
cudaError_t gpu_record_clear(struct gpu_mismatch *record, cudaStream_t stream);
/* Waits for the stream. WL_FAIL: reports a wrong element; `what` names the buffer. */
enum wl_status gpu_record_read(struct gpu *g, const struct gpu_mismatch *record,
                               cudaStream_t stream, const char *what);

struct gpu_words gpu_words(const uint64_t words[PAYLOAD_WORDS]);

/* ==== contention ==== */

/* Runs GEMMs and memory traffic on this rank's GPU beside the measured operation.
 *
 * A level is a share of the multiprocessors for each of the two. The thread that waits for the
 * measured operation queues short pieces of work, a few ahead, on streams of the lowest priority.
 * Every sample also measures the rates reached (FLOP/s and bytes/s). burn_open() calibrates the
 * rates of an otherwise idle GPU, for comparison. */

enum burn_level { BURN_NONE, BURN_LOW, BURN_MEDIUM, BURN_HIGH };

#define BURN_AHEAD 4
#define BURN_GEMM_N 2048 /* of each GEMM */

/* One kind of work, queued as equal pieces on one stream. */
struct burn_lane {
    cudaStream_t stream;
    cudaEvent_t begin, done[BURN_AHEAD];
    unsigned long queued, finished;
    double piece; /* FLOP or bytes in one */
    double alone; /* rate of pieces on an otherwise idle GPU */
    double rate;  /* during the last sample, or in burn_alone() */
};

struct burn {
    struct gpu *gpu;
    enum burn_level level;
    cublasHandle_t blas;
    void *a, *b, *c; /* n x n, bf16 */
    void *from, *to; /* of the memory traffic */
    void *workspace;
    struct burn_lane gemm, traffic;
};

/* Not collective. Takes 184 MiB of device memory, and calibrates: notes "contention_gemm" and
 * "contention_traffic", the rates of an otherwise idle GPU. Sets `why` when not WL_OK. */
enum wl_status burn_open(struct burn *b, struct gpu *gpu, char *why, size_t n);
void burn_close(struct burn *b);

/* Runs `pieces` pieces or a few more of one lane on an otherwise idle GPU; l->rate is then its rate. */
enum wl_status burn_alone(struct burn *b, struct burn_lane *l, unsigned pieces);

/* Queues the first pieces; returns when the GPU has started on both lanes. */
enum wl_status burn_start(struct burn *b, enum burn_level level);
/* Keeps the lanes busy; comm_wait() takes it as `feed`. */
enum wl_status burn_feed(void *burn);
/* Stops queueing, waits for the queued pieces, and measures the rates since burn_start(). */
enum wl_status burn_stop(struct burn *b);
