/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cuda_kernels.h"

static __device__ unsigned pattern(size_t i, uint64_t salt)
{
    return (unsigned)(((i + salt) * 0x9E3779B97F4A7C15ull) >> 60);
}

template <typename T>
static __global__ void fill(T *buffer, size_t n, gpu_words words, uint64_t salt)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        buffer[i] = (T)words.word[pattern(i, salt)];
}

template <typename T>
static __global__ void check(const T *buffer, size_t n, gpu_words words, uint64_t salt,
                             gpu_mismatch *result)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        T want = (T)words.word[pattern(i, salt)], got = buffer[i];
        if (got != want && atomicAdd(&result->wrong, 1ull) == 0) {
            result->first = i;
            result->found = got;
            result->expected = want;
        }
    }
}

static __device__ float load(const void *m, size_t i, unsigned element_B)
{
    if (element_B == 4)
        return ((const float *)m)[i];
    return __uint_as_float((unsigned)((const uint16_t *)m)[i] << 16);
}

enum { GEMM_PLACES = 1024, GEMM_THREADS = 128 };

/* One block an element of C. */
static __global__ void check_gemm(gpu_gemm g, double tolerance, gpu_mismatch *result)
{
    __shared__ double sums[GEMM_THREADS], magnitudes[GEMM_THREADS];
    size_t place = ((blockIdx.x + 1) * 0x9E3779B97F4A7C15ull) % (g.m * g.n);
    size_t row = place / g.n, column = place % g.n;
    double sum = 0, magnitude = 0;
    for (size_t k = threadIdx.x; k < g.k; k += GEMM_THREADS) {
        size_t ia = g.transpose_a ? k * g.m + row : row * g.k + k;
        size_t ib = g.transpose_b ? column * g.k + k : k * g.n + column;
        double term = (double)load(g.a, ia, g.element_B) * load(g.b, ib, g.element_B);
        sum += term;
        magnitude += fabs(term);
    }
    sums[threadIdx.x] = sum;
    magnitudes[threadIdx.x] = magnitude;
    __syncthreads();
    if (threadIdx.x)
        return;
    for (int i = 1; i < GEMM_THREADS; i++) {
        sum += sums[i];
        magnitude += magnitudes[i];
    }
    float got = load(g.c, place, g.element_B);
    bool right = fabs(got - sum) <= tolerance * magnitude; /* false for NaN too */
    if (!right && atomicAdd(&result->wrong, 1ull) == 0) {
        result->first = place;
        result->found = __float_as_uint(got);
        result->expected = __float_as_uint((float)sum);
    }
}

static __global__ void delay(uint64_t nanoseconds)
{
    uint64_t start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < nanoseconds);
}

enum { THREADS = 256, MAX_BLOCKS = 2048 };

static unsigned blocks_for(size_t n)
{
    size_t blocks = (n + THREADS - 1) / THREADS;
    return blocks < 1 ? 1 : blocks > MAX_BLOCKS ? MAX_BLOCKS : (unsigned)blocks;
}

cudaError_t gpu_fill(void *buffer, size_t n, unsigned element_B, gpu_words words, uint64_t salt,
                     cudaStream_t stream)
{
    unsigned blocks = blocks_for(n);
    if (element_B == 2)
        fill<<<blocks, THREADS, 0, stream>>>((uint16_t *)buffer, n, words, salt);
    else
        fill<<<blocks, THREADS, 0, stream>>>((uint32_t *)buffer, n, words, salt);
    return cudaGetLastError();
}

cudaError_t gpu_check(const void *buffer, size_t n, unsigned element_B, gpu_words words,
                      uint64_t salt, gpu_mismatch *result, cudaStream_t stream)
{
    unsigned blocks = blocks_for(n);
    if (element_B == 2)
        check<<<blocks, THREADS, 0, stream>>>((const uint16_t *)buffer, n, words, salt, result);
    else
        check<<<blocks, THREADS, 0, stream>>>((const uint32_t *)buffer, n, words, salt, result);
    return cudaGetLastError();
}

cudaError_t gpu_gemm_check(const gpu_gemm *g, double tolerance, gpu_mismatch *result,
                           cudaStream_t stream)
{
    check_gemm<<<GEMM_PLACES, GEMM_THREADS, 0, stream>>>(*g, tolerance, result);
    return cudaGetLastError();
}

cudaError_t gpu_delay(uint64_t nanoseconds, cudaStream_t stream)
{
    delay<<<1, 1, 0, stream>>>(nanoseconds);
    return cudaGetLastError();
}
