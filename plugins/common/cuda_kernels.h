/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA kernels of gradsync: fill, check and delay. Each function queues a kernel on `stream`
 * and returns cudaGetLastError() of the launch.
 */
#pragma once

#include "common/payload.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_words { /* passed by value: a kernel argument */
    uint64_t word[PAYLOAD_WORDS];
};

struct gpu_mismatch {
    unsigned long long wrong; /* elements; 0: the other members are not set */
    unsigned long long first; /* index of one of the first */
    unsigned long long found, expected;
};

/* Element i becomes words.word[hash(i, salt)], truncated to element_B bytes, 2 or 4. */
cudaError_t gpu_fill(void *buffer, size_t elements, unsigned element_B, struct gpu_words words,
                     uint64_t salt, cudaStream_t stream);

/* Adds the differences from gpu_fill's pattern to *result (device memory, zeroed by the caller). */
cudaError_t gpu_check(const void *buffer, size_t elements, unsigned element_B,
                      struct gpu_words words, uint64_t salt, struct gpu_mismatch *result,
                      cudaStream_t stream);

/* Compares elements spread over C (m x n, by rows) with the dot products of op(A) and op(B),
 * summed in double. An element is wrong if it is off by more than `tolerance` times the sum of the
 * terms' magnitudes. Matrices are float (element_B 4) or bfloat16 (2). Reports like gpu_check;
 * found and expected are the bits of floats. */
struct gpu_gemm {
    const void *a, *b, *c;
    size_t m, n, k;
    unsigned element_B;
    int transpose_a, transpose_b;
};
cudaError_t gpu_gemm_check(const struct gpu_gemm *g, double tolerance, struct gpu_mismatch *result,
                           cudaStream_t stream);

/* Delays the stream, by the clock of the device. */
cudaError_t gpu_delay(uint64_t nanoseconds, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
