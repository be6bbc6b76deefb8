/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA's driver, as far as the engine needs it. Its functions are found in the libcuda.so.1 that the job has
 * loaded; the signatures are those of cuda.h, whose ABI is stable.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *cuda_stream, *cuda_event, *cuda_context;

/* Name in this table, symbol, parameters; each returns 0 for success. */
#define CUDA_EACH(X)                                                                               \
    X(device, "cuCtxGetDevice", (int *device))                                                     \
    X(context, "cuCtxGetCurrent", (cuda_context * context))                                        \
    X(set_context, "cuCtxSetCurrent", (cuda_context context))                                      \
    X(primary_context, "cuDevicePrimaryCtxRetain", (cuda_context * context, int device))           \
    X(uuid, "cuDeviceGetUuid", (unsigned char *uuid, int device))                                  \
    X(memory, "cuMemGetInfo_v2", (size_t * free, size_t * all))                                    \
    X(alloc, "cuMemAlloc_v2", (uintptr_t * p, size_t bytes))                                       \
    X(release, "cuMemFree_v2", (uintptr_t p))                                                      \
    X(set, "cuMemsetD32Async", (uintptr_t p, unsigned value, size_t n, cuda_stream s))             \
    X(to_host, "cuMemcpyDtoH_v2", (void *to, uintptr_t from, size_t bytes))                        \
    X(copy, "cuMemcpyAsync", (uintptr_t to, uintptr_t from, size_t bytes, cuda_stream s))          \
    X(stream_create, "cuStreamCreate", (cuda_stream * s, unsigned flags))                          \
    X(stream_destroy, "cuStreamDestroy_v2", (cuda_stream s))                                       \
    X(stream_query, "cuStreamQuery", (cuda_stream s))                                              \
    X(stream_wait, "cuStreamWaitEvent", (cuda_stream s, cuda_event e, unsigned flags))             \
    X(capturing, "cuStreamIsCapturing", (cuda_stream s, int *status))                              \
    X(event_create, "cuEventCreate", (cuda_event * e, unsigned flags))                             \
    X(event_record, "cuEventRecord", (cuda_event e, cuda_stream s))                                \
    X(event_query, "cuEventQuery", (cuda_event e))                                                 \
    X(event_ms, "cuEventElapsedTime", (float *ms, cuda_event from, cuda_event to))

struct cuda {
#define CUDA_MEMBER(name, symbol, parameters) int(*name) parameters;
    CUDA_EACH(CUDA_MEMBER)
#undef CUDA_MEMBER
};

#define CUDA_STREAM_NON_BLOCKING 1
#define CUDA_EVENT_NO_TIMING 2

/* NULL: the job has no CUDA driver, or one that lacks a function. */
const struct cuda *cuda_driver(void);
/* Is the stream captured into a graph? */
bool cuda_is_captured(cuda_stream s);
/* "GPU-xxxxxxxx-..." of a GPU, as NVML names it; "": none. */
void cuda_uuid(int device, char *uuid, size_t n);
/* Makes the context current, if it is not. Returns the one before. */
cuda_context cuda_enter(cuda_context context);

/* Proves sums of three sizes on buffers and a stream of its own. all_reduce: of floats, in place, by `ctx`; returns NCCL's
 * code. False: `why`. *hung: something is still in the stream, so that the communicator must be aborted. */
bool cuda_known_sums(int (*all_reduce)(void *ctx, void *buffer, size_t count, cuda_stream s),
                     void *ctx, int ranks, int rank, double wait_s, bool *hung, char *why,
                     size_t n);
