/* SPDX-License-Identifier: Apache-2.0
 *
 * Contention: GEMMs and memory traffic on this rank's GPU, beside what is measured. A level is a
 * share of the multiprocessors for each. Work is queued in short pieces on streams of the lowest
 * priority, a few ahead, by the thread that waits for the measured operation; what it really took
 * (FLOP/s and bytes/s) is measured with every sample, and its share of what the GPU does alone
 * follows from burn_open's calibration.
 */
#ifndef CUDA_BURN_H
#define CUDA_BURN_H

#include "common/cuda_gpu.h"

#include <cublas_v2.h>

enum burn_level { BURN_NONE, BURN_LOW, BURN_MEDIUM, BURN_HIGH };

#define BURN_AHEAD 4

/* One kind of work: a stream of equal pieces. */
struct burn_lane {
    cudaStream_t stream;
    cudaEvent_t begin, done[BURN_AHEAD];
    unsigned long queued, finished;
    double piece; /* FLOP or bytes in one */
    double alone; /* pieces' rate with the GPU to themselves */
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

/* Not collective. Takes 184 MiB of device memory, and calibrates. Notes "contention_gemm"
 * and "contention_traffic": what the GPU reaches when it does nothing else. `why` when not WL_OK.
 */
enum wl_status burn_open(struct burn *b, struct gpu *gpu, char *why, size_t n);
void burn_close(struct burn *b);

/* Queues the first pieces; returns when the GPU is at work on both lanes. */
enum wl_status burn_start(struct burn *b, enum burn_level level);
/* Keeps the lanes busy; what comm_wait feeds with. */
enum wl_status burn_feed(void *burn);
/* Queues no more, waits for the rest, and measures the rates since burn_start. */
enum wl_status burn_stop(struct burn *b);

#endif
