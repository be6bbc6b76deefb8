/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded before CUDA's and NCCL's libraries, pretends a machine that is not here, as far as
 * opening a GPU plugin looks at it: PRETEND_GPUS    how many, each with an address of its own
 *   PRETEND_DRIVER  the CUDA of its driver, as cudaDriverGetVersion says it; below 13000 too old
 *   PRETEND_NCCL    as ncclGetVersion says it
 */
#include <stdio.h>
#include <stdlib.h>

enum { SUCCESS = 0, INSUFFICIENT_DRIVER = 35 };

int cudaGetDeviceCount(int *n);
int cudaDriverGetVersion(int *version);
int cudaSetDevice(int device);
int cudaFree(void *p);
int cudaDeviceGetAttribute(int *value, int attribute, int device);
int cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority);
int cudaStreamDestroy(void *stream);
int cudaDeviceGetPCIBusId(char *text, int size, int device);
int ncclGetVersion(int *version);

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
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

int cudaSetDevice(int device)
{
    (void)device;
    return SUCCESS;
}

int cudaFree(void *p)
{
    (void)p;
    return SUCCESS;
}

int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)attribute;
    (void)device;
    *value = 1 << 20;
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

int cudaStreamDestroy(void *stream)
{
    (void)stream;
    return SUCCESS;
}

int cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    snprintf(text, (size_t)size, "0000:%02x:00.0", device + 1);
    return SUCCESS;
}

int ncclGetVersion(int *version)
{
    *version = number("PRETEND_NCCL", 22803);
    return SUCCESS;
}
