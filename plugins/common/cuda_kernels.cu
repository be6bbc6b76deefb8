/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_kernels.h"

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

static __global__ void delay(uint64_t nanoseconds)
{
    uint64_t start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < nanoseconds);
}

static __global__ void copy(uint4 *to, const uint4 *from, size_t n)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * step < n; i += 4 * step) {
        uint4 a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
        to[i] = a;
        to[i + step] = b;
        to[i + 2 * step] = c;
        to[i + 3 * step] = d;
    }
    for (; i < n; i += step)
        to[i] = from[i];
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
    switch (element_B) {
    case 1:
        fill<<<blocks, THREADS, 0, stream>>>((uint8_t *)buffer, n, words, salt);
        break;
    case 2:
        fill<<<blocks, THREADS, 0, stream>>>((uint16_t *)buffer, n, words, salt);
        break;
    case 4:
        fill<<<blocks, THREADS, 0, stream>>>((uint32_t *)buffer, n, words, salt);
        break;
    default:
        fill<<<blocks, THREADS, 0, stream>>>((unsigned long long *)buffer, n, words, salt);
    }
    return cudaGetLastError();
}

cudaError_t gpu_check(const void *buffer, size_t n, unsigned element_B, gpu_words words,
                      uint64_t salt, gpu_mismatch *result, cudaStream_t stream)
{
    unsigned blocks = blocks_for(n);
    switch (element_B) {
    case 1:
        check<<<blocks, THREADS, 0, stream>>>((const uint8_t *)buffer, n, words, salt, result);
        break;
    case 2:
        check<<<blocks, THREADS, 0, stream>>>((const uint16_t *)buffer, n, words, salt, result);
        break;
    case 4:
        check<<<blocks, THREADS, 0, stream>>>((const uint32_t *)buffer, n, words, salt, result);
        break;
    default:
        check<<<blocks, THREADS, 0, stream>>>((const unsigned long long *)buffer, n, words, salt,
                                              result);
    }
    return cudaGetLastError();
}

cudaError_t gpu_delay(uint64_t nanoseconds, cudaStream_t stream)
{
    delay<<<1, 1, 0, stream>>>(nanoseconds);
    return cudaGetLastError();
}

cudaError_t gpu_copy(void *to, const void *from, size_t bytes, unsigned blocks, cudaStream_t stream)
{
    copy<<<blocks, 1024, 0, stream>>>((uint4 *)to, (const uint4 *)from, bytes / sizeof(uint4));
    return cudaGetLastError();
}
