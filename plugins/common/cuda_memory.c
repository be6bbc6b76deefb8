/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cuda_memory.h"

#include <stdio.h>

#define WINDOW_SYMMETRIC 1 /* NCCL_WIN_COLL_SYMMETRIC */

typedef ncclResult_t mem_alloc(void **, size_t);
typedef ncclResult_t mem_free(void *);
typedef ncclResult_t buffer_register(ncclComm_t, void *, size_t, void **);
typedef ncclResult_t window_register(ncclComm_t, void *, size_t, void **, int);
typedef ncclResult_t deregister(ncclComm_t, void *);

/* NULL, and `why`: this NCCL has no such function, or none yet that does what is needed. */
static void *find(const struct comms *c, const char *function, int since, char *why, size_t n)
{
    void *symbol = c->version < since ? NULL : comm_symbol(c, function);
    if (!symbol)
        snprintf(why, n, "this NCCL, %d.%d, has no %s: use memory=plain, or NCCL %d.%d",
                 c->version / 10000, c->version % 10000 / 100, function, since / 10000,
                 since % 10000 / 100);
    return symbol;
}

enum wl_status memory_alloc(struct comms *c, void **base, size_t bytes, bool from_nccl, char *why,
                            size_t n)
{
    if (!from_nccl)
        return gpu_alloc(base, bytes, why, n) == cudaSuccess ? WL_OK : WL_SKIP;
    union {
        void *object;
        mem_alloc *function;
    } take = {.object = find(c, "ncclMemAlloc", 21900, why, n)};
    if (!take.function)
        return WL_SKIP;
    ncclResult_t e = take.function(base, bytes);
    if (comm_judge(c, NULL, e, "ncclMemAlloc", why, n) == WL_OK)
        return WL_OK;
    *base = NULL;
    cudaGetLastError();
    if (gpu_free_memory() < bytes)
        gpu_say_memory(bytes, why, n);
    return WL_SKIP;
}

void memory_free(struct comms *c, void *base, bool from_nccl)
{
    union {
        void *object;
        mem_free *function;
    } give = {.object = comm_symbol(c, "ncclMemFree")};
    if (!base)
        return;
    if (from_nccl && give.function)
        give.function(base);
    else
        cudaFree(base);
}

enum wl_status memory_register(struct comms *c, struct comm *comm, enum memory memory, void *base,
                               size_t bytes, void **registration, char *why, size_t n)
{
    ncclComm_t nccl = atomic_load(&comm->nccl);
    if (memory == MEMORY_PLAIN || memory == MEMORY_NCCL)
        return WL_OK;
    bool window = memory == MEMORY_SYMMETRIC;
    const char *name = window ? "ncclCommWindowRegister" : "ncclCommRegister";
    union {
        void *object;
        buffer_register *buffer;
        window_register *window;
    } add = {.object = find(c, name, window ? 22700 : 21900, why, n)};
    if (!add.object)
        return WL_SKIP;
    ncclResult_t e = window ? add.window(nccl, base, bytes, registration, WINDOW_SYMMETRIC)
                            : add.buffer(nccl, base, bytes, registration);
    return comm_judge(c, comm, e, name, why, n);
}

void memory_unregister(struct comms *c, struct comm *comm, enum memory memory, void **registration)
{
    ncclComm_t nccl = comm ? atomic_load(&comm->nccl) : NULL;
    bool window = memory == MEMORY_SYMMETRIC;
    union {
        void *object;
        deregister *function;
    } undo = {.object = comm_symbol(c, window ? "ncclCommWindowDeregister" : "ncclCommDeregister")};
    if (*registration && nccl && undo.function)
        undo.function(nccl, *registration);
    *registration = NULL;
}
