/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/cuda/proxy_cuda.h"

#include <stdio.h>
#include <stdlib.h>

struct nccl_operation bucket_operation(const struct proxy_cell *cell, unsigned b)
{
    return (struct nccl_operation){.collective = (enum collective)cell->collective,
                                   .type = PAY_FP32,
                                   .op = PAY_SUM,
                                   .count = proxy_bucket(cell, b + 1) - proxy_bucket(cell, b)};
}

static cudaError_t fill(struct state *s, const struct gradient *g, const struct proxy_cell *cell)
{
    cudaError_t e = cudaSuccess;
    for (unsigned b = 0; b < (unsigned)cell->buckets && !e; b++) {
        struct nccl_operation o = bucket_operation(cell, b);
        size_t first = proxy_bucket(cell, b);
        e = nccl_operation_fill(&s->gpu, &o, (char *)g->in + first * sizeof(float),
                                s->host->seed + first);
    }
    return e ? e : cudaStreamSynchronize(s->gpu.stream);
}

static enum wl_status make(struct state *s, struct gradient *g, const struct proxy_cell *cell,
                           char *why, size_t size)
{
    struct payload p;
    void **const buffers[] = {&g->in, &g->out};
    bool from_nccl = g->memory == PROXY_SYMMETRIC;
    if (collective_reduces((enum collective)cell->collective) &&
        !payload_make(&p, PAY_FP32, PAY_SUM, s->host->rank, s->host->ranks, false, 1)) {
        snprintf(why, size, "no sum of fp32 over %d ranks is exact", s->host->ranks);
        return WL_SKIP;
    }
    for (int i = 0; i < 2; i++) {
        enum wl_status status = memory_alloc(&s->comms, buffers[i], g->bytes, from_nccl, why, size);
        if (status != WL_OK)
            return status;
    }
    cudaError_t e = fill(s, g, cell);
    if (e)
        snprintf(why, size, "gradients: %s", cudaGetErrorString(e));
    return e ? WL_FAIL : WL_OK;
}

static void gradient_free(struct state *s, struct gradient *g)
{
    memory_free(&s->comms, g->in, g->memory == PROXY_SYMMETRIC);
    memory_free(&s->comms, g->out, g->memory == PROXY_SYMMETRIC);
    free(g);
}

static bool fits(const struct gradient *g, const struct proxy_cell *cell)
{
    return g->bytes == cell->size && g->buckets == cell->buckets &&
           g->collective == cell->collective && g->memory == cell->memory;
}

enum wl_status gradient_take(struct state *s, const struct proxy_cell *cell, struct gradient **out,
                             char *why, size_t size)
{
    for (struct gradient *g = s->gradients; g; g = g->next)
        if (fits(g, cell)) {
            g->users++;
            *out = g;
            return WL_OK;
        }
    struct gradient *g = calloc(1, sizeof *g);
    if (!g) {
        snprintf(why, size, "out of host memory");
        return WL_FAIL;
    }
    *g = (struct gradient){.bytes = (size_t)cell->size,
                           .buckets = cell->buckets,
                           .collective = cell->collective,
                           .memory = cell->memory,
                           .users = 1};
    enum wl_status status = make(s, g, cell, why, size);
    if (status != WL_OK) {
        gradient_free(s, g);
        return status;
    }
    g->next = s->gradients;
    s->gradients = *out = g;
    return WL_OK;
}

void gradient_drop(struct state *s, struct gradient *g)
{
    if (!g || --g->users)
        return;
    for (struct gradient **at = &s->gradients; *at; at = &(*at)->next)
        if (*at == g) {
            *at = g->next;
            break;
        }
    gradient_free(s, g);
}

static void windows_free(struct state *s, struct windows *w)
{
    memory_unregister(&s->comms, w->comm, MEMORY_SYMMETRIC, &w->in);
    memory_unregister(&s->comms, w->comm, MEMORY_SYMMETRIC, &w->out);
    free(w);
}

enum wl_status windows_take(struct state *s, struct gradient *g, struct comm *comm,
                            struct windows **out, char *why, size_t size)
{
    for (struct windows *w = g->windows; w; w = w->next)
        if (w->comm == comm) {
            w->users++;
            *out = w;
            return WL_OK;
        }
    struct windows *w = calloc(1, sizeof *w);
    if (!w) {
        snprintf(why, size, "out of host memory");
        return WL_FAIL;
    }
    *w = (struct windows){.next = g->windows, .comm = comm, .users = 1};
    enum wl_status status =
        memory_register(&s->comms, comm, MEMORY_SYMMETRIC, g->in, g->bytes, &w->in, why, size);
    if (status == WL_OK)
        status = memory_register(&s->comms, comm, MEMORY_SYMMETRIC, g->out, g->bytes, &w->out, why,
                                 size);
    if (status == WL_OK)
        g->windows = *out = w;
    else
        windows_free(s, w);
    return status;
}

void windows_drop(struct state *s, struct gradient *g, struct windows *w)
{
    if (!w || --w->users)
        return;
    for (struct windows **at = &g->windows; *at; at = &(*at)->next)
        if (*at == w) {
            *at = w->next;
            break;
        }
    windows_free(s, w);
}
