/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded before CUDA's and NCCL's libraries, pretends a machine that is not here, as far as a
 * GPU plugin looks at it: opening it, and operations (all-reduces, in graphs too, and GEMMs), one
 * after the other whatever their streams, that each take 10 us and are right.
 *
 *   PRETEND_GPUS     how many, each with an address of its own; 2
 *   PRETEND_DRIVER   the CUDA of its driver, as cudaDriverGetVersion says it; given, it is too old
 *   PRETEND_NCCL     as ncclGetVersion says it
 *   PRETEND_NO_PEER  the GPUs do not reach each other
 *   PRETEND_MEMORY   of a GPU, in MiB; 1024
 *   PRETEND_ERROR    that the GPUs fail to start with
 *   PRETEND_REFUSES  the NCCL_ALGO that NCCL has not
 *   PRETEND_DEAD     a peer dies when so many operations are queued
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SUCCESS = 0, OUT_OF_MEMORY = 2, INSUFFICIENT_DRIVER = 35, NOT_READY = 600 };
enum { NCCL_CUDA_ERROR = 1, NCCL_INVALID_USAGE = 5, NCCL_REMOTE_ERROR = 6 };
#define OPERATION_MS 0.01f
#define MIB ((size_t)1 << 20)

/* What it must know of its past: the operations queued are a clock. */
static int operations;
static int captured = -1;         /* -1: no graph is being captured */
static char communicator[64][32]; /* the NCCL_ALGO that each was made with */
static int communicators;
static size_t used; /* bytes of device memory */

static void run_operations(int n)
{
    struct timespec t = {.tv_nsec = n * (long)(OPERATION_MS * 1e6f)};
    nanosleep(&t, NULL);
    operations += n;
}

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

/* Calls that do nothing here but succeed, whatever they are given. */
#define SUCCEEDS(name)                                                                             \
    int name(void)                                                                                 \
    {                                                                                              \
        return SUCCESS;                                                                            \
    }
SUCCEEDS(cudaSetDevice)
SUCCEEDS(cudaStreamDestroy)
SUCCEEDS(cudaStreamSynchronize)
SUCCEEDS(cudaMemset)
SUCCEEDS(cudaMemsetAsync)
SUCCEEDS(cudaEventDestroy)
SUCCEEDS(cudaGetLastError)
SUCCEEDS(cudaStreamWaitEvent)
SUCCEEDS(cudaGraphUpload)
SUCCEEDS(cudaGraphDestroy)
SUCCEEDS(cudaGraphExecDestroy)
SUCCEEDS(__cudaLaunchKernel)
SUCCEEDS(__cudaGetKernel)
SUCCEEDS(cublasCreate_v2)
SUCCEEDS(cublasDestroy_v2)
SUCCEEDS(cublasSetStream_v2)
SUCCEEDS(cublasSetWorkspace_v2)
SUCCEEDS(ncclGetUniqueId)
SUCCEEDS(ncclCommDestroy)
SUCCEEDS(ncclCommAbort)

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
    *p = used + bytes > all_memory() ? NULL : calloc(1, bytes);
    if (!*p)
        return OUT_OF_MEMORY;
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

int ncclMemAlloc(void **p, size_t bytes)
{
    return cudaMalloc(p, bytes) == SUCCESS ? SUCCESS : NCCL_CUDA_ERROR;
}

int ncclMemFree(void *p)
{
    return cudaFree(p);
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return SUCCESS;
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
    return SUCCESS;
}

static int dead(void)
{
    int after = number("PRETEND_DEAD", 0);
    return after && operations >= after;
}

int cudaEventQuery(const int *event)
{
    (void)event;
    return dead() ? NOT_READY : SUCCESS;
}

int cudaEventElapsedTime(float *ms, const int *from, const int *to)
{
    *ms = (float)(*to - *from) * OPERATION_MS;
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
    return SUCCESS;
}

int ncclGetVersion(int *version)
{
    *version = number("PRETEND_NCCL", 22803);
    return SUCCESS;
}

int ncclCommInitRankConfig(void **comm)
{
    const char *algorithm = getenv("NCCL_ALGO");
    char *made = communicator[communicators++ % 64];
    snprintf(made, sizeof communicator[0], "%s", algorithm ? algorithm : "");
    *comm = made;
    return SUCCESS;
}

int ncclAllReduce(const void *in, void *out, size_t n, int type, int op, const char *comm,
                  void *stream)
{
    const char *refused = getenv("PRETEND_REFUSES");
    (void)in, (void)out, (void)n, (void)type, (void)op, (void)stream;
    if (refused && !strcmp(comm, refused))
        return NCCL_INVALID_USAGE;
    if (captured < 0)
        run_operations(1);
    else
        captured++;
    return SUCCESS;
}

int cublasGemmEx(void)
{
    run_operations(1);
    return SUCCESS;
}

int ncclCommGetAsyncError(void *comm, int *error)
{
    (void)comm;
    *error = dead() ? NCCL_REMOTE_ERROR : SUCCESS;
    return SUCCESS;
}

const char *ncclGetLastError(void *comm)
{
    (void)comm;
    return "";
}
