/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_allreduce/cuda/nccl_cuda.h"

#include <stdio.h>
#include <stdlib.h>

#define LEAST_B ((size_t)64 << 20) /* so that the small sizes of a sweep share one */
#define POISON 0xff                /* NaN, or -1: no right result holds it */
#define NCCL_SYMMETRIC 1           /* NCCL_WIN_COLL_SYMMETRIC */

char *slot_in(const struct prepared *p, unsigned slot)
{
    return (char *)p->arena->base + slot * p->slot_B;
}

char *slot_out(const struct prepared *p, unsigned slot)
{
    return slot_in(p, p->cell.in_place ? slot : slot + p->slots);
}

typedef ncclResult_t mem_alloc(void **, size_t);
typedef ncclResult_t mem_free(void *);

static void arena_free(struct state *s, struct arena *a)
{
    union {
        void *object;
        mem_free *function;
    } give = {.object = comm_symbol(&s->comms, "ncclMemFree")};
    if (a->from_nccl && give.function)
        give.function(a->base);
    else
        cudaFree(a->base);
    free(a);
}

void arenas_free(struct state *s)
{
    while (s->arenas) {
        struct arena *a = s->arenas;
        s->arenas = a->next;
        arena_free(s, a);
    }
}

/* Only when memory runs out: what a graph has shown to other GPUs is best not freed under them. */
static void drop_unused(struct state *s)
{
    for (struct arena **at = &s->arenas; *at;) {
        struct arena *a = *at;
        if (a->users) {
            at = &a->next;
        } else {
            *at = a->next;
            arena_free(s, a);
        }
    }
}

static enum wl_status allocate(struct state *s, struct arena *a, char *why, size_t n)
{
    if (!a->from_nccl)
        return gpu_alloc(&a->base, a->bytes, why, n) == cudaSuccess ? WL_OK : WL_SKIP;
    union {
        void *object;
        mem_alloc *function;
    } take = {.object = comm_symbol(&s->comms, "ncclMemAlloc")};
    if (!take.function) {
        snprintf(why, n, "this NCCL, %d.%d, has no ncclMemAlloc: memory = plain, or NCCL 2.19",
                 s->comms.version / 10000, s->comms.version % 10000 / 100);
        return WL_SKIP;
    }
    ncclResult_t e = take.function(&a->base, a->bytes);
    enum wl_status status = comm_judge(&s->comms, NULL, e, "ncclMemAlloc", why, n);
    if (status == WL_OK)
        return WL_OK;
    cudaGetLastError();
    if (gpu_free_memory() < a->bytes)
        gpu_say_memory(a->bytes, why, n);
    return WL_SKIP;
}

enum wl_status arena_take(struct state *s, size_t bytes, bool from_nccl, struct arena **out,
                          char *why, size_t n)
{
    for (struct arena *a = s->arenas; a; a = a->next)
        if (a->bytes >= bytes && a->from_nccl == from_nccl) {
            a->users++;
            *out = a;
            return WL_OK;
        }
    struct arena *a = calloc(1, sizeof *a);
    if (!a) {
        snprintf(why, n, "out of host memory");
        return WL_FAIL;
    }
    a->bytes = bytes < LEAST_B ? LEAST_B : bytes;
    a->from_nccl = from_nccl;
    enum wl_status status = allocate(s, a, why, n);
    if (status != WL_OK) {
        drop_unused(s);
        status = allocate(s, a, why, n);
    }
    if (status != WL_OK) {
        free(a);
        return status;
    }
    a->users = 1;
    a->next = s->arenas;
    s->arenas = a;
    *out = a;
    return WL_OK;
}

enum wl_status arena_load(struct prepared *p)
{
    struct gpu *g = &p->state->gpu;
    const struct payload *pay = &p->payload;
    bool intact = p->arena->loaded == p && !p->cell.in_place;
    p->arena->loaded = p;
    cudaError_t e = cudaSuccess;
    for (unsigned slot = 0; slot < p->slots && !e && !intact; slot++)
        e = gpu_fill(slot_in(p, slot), p->elements, pay->element_B, gpu_words(pay->input),
                     g->host->seed + slot, g->stream);
    if (!e && !p->cell.in_place)
        e = cudaMemsetAsync(slot_out(p, 0), POISON, p->slots * p->slot_B, g->stream);
    return gpu_try(g, e, "filling the buffers");
}

typedef ncclResult_t buffer_register(ncclComm_t, void *, size_t, void **);
typedef ncclResult_t window_register(ncclComm_t, void *, size_t, void **, int);
typedef ncclResult_t deregister(ncclComm_t, void *);

enum wl_status arena_register(struct prepared *p, char *why, size_t n)
{
    struct state *s = p->state;
    ncclComm_t nccl = atomic_load(&p->comm->nccl);
    if (p->cell.memory == MEMORY_PLAIN || p->cell.memory == MEMORY_NCCL)
        return WL_OK;
    bool window = p->cell.memory == MEMORY_SYMMETRIC;
    const char *name = window ? "ncclCommWindowRegister" : "ncclCommRegister";
    union {
        void *object;
        buffer_register *buffer;
        window_register *window;
    } add = {.object = comm_symbol(&s->comms, name)};
    if (!add.object) {
        snprintf(why, n, "this NCCL, %d.%d, has no %s: memory = plain, or NCCL %s",
                 s->comms.version / 10000, s->comms.version % 10000 / 100, name,
                 window ? "2.27" : "2.19");
        return WL_SKIP;
    }
    ncclResult_t e =
        window ? add.window(nccl, p->arena->base, p->arena->bytes, &p->registration, NCCL_SYMMETRIC)
               : add.buffer(nccl, p->arena->base, p->arena->bytes, &p->registration);
    return comm_judge(&s->comms, p->comm, e, name, why, n);
}

void arena_unregister(struct prepared *p)
{
    ncclComm_t nccl = atomic_load(&p->comm->nccl);
    bool window = p->cell.memory == MEMORY_SYMMETRIC;
    union {
        void *object;
        deregister *function;
    } undo = {.object = comm_symbol(&p->state->comms,
                                    window ? "ncclCommWindowDeregister" : "ncclCommDeregister")};
    if (p->registration && nccl && undo.function)
        undo.function(nccl, p->registration);
    p->registration = NULL;
}
