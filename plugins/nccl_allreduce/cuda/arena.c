/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_allreduce/cuda/nccl_cuda.h"

#include <stdio.h>
#include <stdlib.h>

#define LEAST_B ((size_t)64 << 20) /* so that the small sizes of a sweep share one */
#define POISON 0xff                /* NaN, or -1: no right result holds it */

char *slot_in(const struct prepared *p, unsigned slot)
{
    return (char *)p->arena->base + slot * p->slot_B;
}

char *slot_out(const struct prepared *p, unsigned slot)
{
    return slot_in(p, p->cell.in_place ? slot : slot + p->slots);
}

static void arena_free(struct state *s, struct arena *a)
{
    memory_free(&s->comms, a->base, a->memory != MEMORY_PLAIN);
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
    return memory_alloc(&s->comms, &a->base, a->bytes, a->memory != MEMORY_PLAIN, why, n);
}

enum wl_status arena_take(struct state *s, size_t bytes, enum memory memory, struct arena **out,
                          char *why, size_t n)
{
    for (struct arena *a = s->arenas; a; a = a->next)
        if (a->bytes >= bytes && a->memory == memory) {
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
    a->memory = memory;
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

/* In place, an input lies in its output: the other inputs of an all-reduce leave nothing of it. */
static cudaError_t poison(struct prepared *p)
{
    if (p->cell.in_place && p->cell.collective == COLLECTIVE_ALLREDUCE)
        return cudaSuccess;
    return cudaMemsetAsync(slot_out(p, 0), POISON, p->slots * p->slot_B, p->state->gpu.stream);
}

enum wl_status arena_load(struct prepared *p)
{
    struct gpu *g = &p->state->gpu;
    bool intact = p->arena->loaded == p && !p->cell.in_place;
    p->arena->loaded = p;
    cudaError_t e = poison(p);
    for (unsigned slot = 0; slot < p->slots && !e && !intact; slot++)
        e = nccl_operation_fill(g, &p->what, slot_in(p, slot), g->host->seed + slot);
    return gpu_try(g, e, "filling the buffers");
}
