/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA's runtime, its driver and cuBLAS, pretended (pretend.h).
 */
#include "pretend.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OPERATION_MS 0.01f
#define MIB ((size_t)1 << 20)

/* What it must know of its past: the operations queued are a clock. */
static int operations;
int captured = -1;
static size_t used; /* bytes of device memory */

void run_operations(int n)
{
    struct timespec t = {.tv_nsec = n * (long)(OPERATION_MS * 1e6f)};
    nanosleep(&t, NULL);
    operations += n;
}

int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

int kept;
#define ASKS(name)                                                                                 \
    int name(void)                                                                                 \
    {                                                                                              \
        return kept;                                                                               \
    }
ASKS(cudaStreamQuery)
ASKS(cudaStreamSynchronize)
ASKS(cudaMemset)
ASKS(cudaMemsetAsync)
ASKS(cudaStreamWaitEvent)
ASKS(cudaGraphUpload)
ASKS(__cudaLaunchKernel)
SUCCEEDS(cudaStreamDestroy)
SUCCEEDS(cudaEventDestroy)
SUCCEEDS(cudaGetLastError)
SUCCEEDS(cudaGraphDestroy)
SUCCEEDS(cudaGraphExecDestroy)
SUCCEEDS(__cudaGetKernel)
SUCCEEDS(cublasCreate_v2)
SUCCEEDS(cublasDestroy_v2)
SUCCEEDS(cublasSetStream_v2)
SUCCEEDS(cublasSetWorkspace_v2)
int this_gpu;
int cudaSetDevice(int device)
{
    this_gpu = device;
    return SUCCESS;
}

static float operation_ms(void)
{
    int gpu;
    float factor;
    const char *slow = getenv("PRETEND_SLOW");
    return slow && sscanf(slow, "%d %f", &gpu, &factor) == 2 && (gpu < 0 || gpu == this_gpu)
               ? OPERATION_MS * factor
               : OPERATION_MS;
}

int cudaDriverGetVersion(int *version)
{
    *version = number("PRETEND_DRIVER", 99000);
    return SUCCESS;
}

int cudaGetDeviceCount(int *n)
{
    *n = number("PRETEND_GPUS", 2);
    return getenv("PRETEND_DRIVER") ? INSUFFICIENT_DRIVER : SUCCESS;
}

/* The driver's own, which are asked before anything is started. */
SUCCEEDS(cuInit)
int cuDeviceGetCount(int *n)
{
    *n = number("PRETEND_GPUS", 2);
    return SUCCESS;
}

int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)attribute;
    (void)device;
    *value = 1 << 20;
    return SUCCESS;
}

int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = device != peer && !getenv("PRETEND_NO_PEER");
    return SUCCESS;
}

int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return SUCCESS;
}

int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    (void)flags;
    (void)priority;
    *stream = stream;
    return SUCCESS;
}

int cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    snprintf(text, (size_t)size, "0000:%02x:00.0", device + 1);
    return SUCCESS;
}

static size_t all_memory(void)
{
    return (size_t)number("PRETEND_MEMORY", 1024) * MIB;
}

/* Untouched pages cost nothing, so that large buffers are no burden here. */
int cudaMalloc(void **p, size_t bytes)
{
    *p = kept || used + bytes > all_memory() ? NULL : calloc(1, bytes);
    if (!*p)
        return kept ? kept : OUT_OF_MEMORY;
    used += malloc_usable_size(*p);
    return SUCCESS;
}

int cudaFree(void *p)
{
    used -= malloc_usable_size(p);
    free(p);
    return p ? SUCCESS : number("PRETEND_ERROR", SUCCESS);
}

int cudaMemGetInfo(size_t *available, size_t *total)
{
    *total = all_memory();
    *available = *total - used;
    return SUCCESS;
}

int cudaMallocHost(void **p, size_t bytes)
{
    *p = calloc(1, bytes);
    return *p ? SUCCESS : OUT_OF_MEMORY;
}

int cudaFreeHost(void *p)
{
    free(p);
    return SUCCESS;
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return kept;
}

/* An event is the number of operations queued before it. */
int cudaEventCreateWithFlags(int **event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof **event);
    return *event ? SUCCESS : OUT_OF_MEMORY;
}

int cudaEventCreate(int **event)
{
    return cudaEventCreateWithFlags(event, 0);
}

int cudaEventRecord(int *event, void *stream)
{
    (void)stream;
    *event = operations;
    return kept;
}

int dead(void)
{
    int after = number("PRETEND_DEAD", 0);
    return after && operations >= after;
}

int cudaEventQuery(const int *event)
{
    (void)event;
    return dead() ? NOT_READY : kept;
}

int cudaEventElapsedTime(float *ms, const int *from, const int *to)
{
    *ms = (float)(*to - *from) * operation_ms();
    return SUCCESS;
}

/* A graph is known by its address: the number of its operations from here. */
static char graphs[1 << 16];

int cudaStreamBeginCapture(void *stream)
{
    (void)stream;
    captured = 0;
    return SUCCESS;
}

int cudaStreamEndCapture(void *stream, char **graph)
{
    (void)stream;
    *graph = graphs + captured;
    captured = -1;
    return SUCCESS;
}

int cudaGraphInstantiateWithFlags(char **made, char *graph)
{
    *made = graph;
    return SUCCESS;
}

int cudaGraphLaunch(const char *made)
{
    run_operations((int)(made - graphs));
    return kept;
}

int cublasGemmEx(void)
{
    if (captured < 0)
        run_operations(1);
    else
        captured++;
    return SUCCESS;
}
