/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded before CUDA's and NCCL's libraries, pretends a machine that is not here, as far as a
 * GPU plugin looks at it: opening it, and operations (collectives, in graphs too, and GEMMs), one
 * after the other whatever their streams, that each take 10 us and are right. Reductions to a rank
 * and broadcasts really move their data between the ranks, as files in /dev/shm.
 *
 * Linked under the driver's name (-Wl,-soname,libcuda.so.1), it answers for the driver as well.
 *
 *   PRETEND_GPUS     how many, each with an address of its own; 2
 *   PRETEND_DRIVER   the CUDA of its driver, as cudaDriverGetVersion says it; given, it is too old
 *   PRETEND_NCCL     as ncclGetVersion says it
 *   PRETEND_NO_PEER  the GPUs do not reach each other
 *   PRETEND_MEMORY   of a GPU, in MiB; 1024
 *   PRETEND_ERROR    that the GPUs fail to start with
 *   PRETEND_REFUSES  the NCCL_ALGO that NCCL has not
 *   PRETEND_DEAD     a peer dies when so many operations are queued
 *   PRETEND_KEEPS    "Tree 256 1 3": the third operation of 256 elements with that NCCL_ALGO fails on
 *                    GPU 1, with an error that CUDA keeps
 *   PRETEND_SLOW     "2 1.3": operations take 1.3 times as long on GPU 2; -1: on every GPU
 *   PRETEND_SILENT   "1 2": a communicator that GPU 1 began never connects on GPU 2
 */
#pragma once

#include <stddef.h>

enum {
    SUCCESS = 0,
    OUT_OF_MEMORY = 2,
    INSUFFICIENT_DRIVER = 35,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700
};
enum { NCCL_CUDA_ERROR = 1, NCCL_INVALID_USAGE = 5, NCCL_REMOTE_ERROR = 6, NCCL_IN_PROGRESS = 7 };

/* Calls that do nothing here but succeed, whatever they are given. */
#define SUCCEEDS(name)                                                                             \
    int name(void)                                                                                 \
    {                                                                                              \
        return SUCCESS;                                                                            \
    }

/* Seen by both halves only, not by the program that they are preloaded into. */
#pragma GCC visibility push(hidden)
extern int captured; /* operations; -1: no graph is being captured */
extern int this_gpu;
extern int kept; /* the error that every call returns from now on */
void run_operations(int n);
int number(const char *name, int otherwise); /* of the environment */
int dead(void);                              /* a peer has died */
#pragma GCC visibility pop

int cudaMalloc(void **p, size_t bytes);
int cudaFree(void *p);
