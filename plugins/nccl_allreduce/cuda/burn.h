/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs GEMMs and memory traffic on this rank's GPU beside the measured operation.
 *
 * A level is a share of the multiprocessors for each of the two. The thread that waits for the
 * measured operation queues short pieces of work, a few ahead, on streams of the lowest priority.
 * Every sample also measures the rates reached (FLOP/s and bytes/s). burn_open() calibrates the
 * rates of an otherwise idle GPU, for comparison. */
#pragma once

#include "common/cuda_gpu.h"

#include <cublas_v2.h>

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
    double rate;  /* during the last sample */
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

/* Queues the first pieces; returns when the GPU has started on both lanes. */
enum wl_status burn_start(struct burn *b, enum burn_level level);
/* Keeps the lanes busy; comm_wait() takes it as `feed`. */
enum wl_status burn_feed(void *burn);
/* Stops queueing, waits for the queued pieces, and measures the rates since burn_start(). */
enum wl_status burn_stop(struct burn *b);
