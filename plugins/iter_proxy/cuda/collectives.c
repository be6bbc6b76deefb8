/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers of a step's collectives.
 */
#include "iter_proxy/cuda/proxy_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum payload_type types[] = {
    [STEP_FP32] = PAY_FP32, [STEP_TF32] = PAY_FP32, [STEP_BF16] = PAY_BF16, [STEP_FP16] = PAY_FP16};

struct nccl_operation operation_of(const struct proxy_collective *c)
{
    return (struct nccl_operation){.collective = c->collective,
                                   .type = types[c->dtype],
                                   .op = PAY_SUM,
                                   .count = (size_t)c->elements};
}

/* Is every sum exact? */
static bool checkable(const struct state *s, const struct proxy_collective *c, char *why,
                      size_t size)
{
    struct payload p;
    if (!collective_reduces(c->collective) ||
        payload_make(&p, types[c->dtype], PAY_SUM, s->host->rank, s->host->ranks, false, 1))
        return true;
    snprintf(why, size, "no sum of %s over %d ranks is exact", payload_dtypes[types[c->dtype]].name,
             s->host->ranks);
    return false;
}

static enum wl_status fill(struct state *s, const struct buffers *b, char *why, size_t size)
{
    cudaError_t e = cudaSuccess;
    for (size_t i = 0; i < b->n && !e; i++) {
        struct nccl_operation o = operation_of(&b->collective[i]);
        if (!checkable(s, &b->collective[i], why, size))
            return WL_SKIP;
        e = nccl_operation_fill(&s->gpu, &o, (char *)b->in + b->collective[i].first, s->host->seed);
    }
    if (!e)
        e = cudaStreamSynchronize(s->gpu.stream);
    if (e)
        snprintf(why, size, "buffers: %s", cudaGetErrorString(e));
    return e ? WL_FAIL : WL_OK;
}

static void buffers_free(struct state *s, struct buffers *b)
{
    memory_free(&s->comms, b->in, b->memory == PROXY_SYMMETRIC);
    memory_free(&s->comms, b->out, b->memory == PROXY_SYMMETRIC);
    free(b->collective);
    free(b);
}

/* Frees those that no step uses. Only when memory runs out: a graph has shown them to other GPUs. */
static void drop_unused(struct state *s)
{
    for (struct buffers **at = &s->buffers; *at;) {
        struct buffers *b = *at;
        if (b->users) {
            at = &b->next;
        } else {
            *at = b->next;
            buffers_free(s, b);
        }
    }
}

void buffers_close(struct state *s)
{
    while (s->buffers) {
        struct buffers *b = s->buffers;
        s->buffers = b->next;
        buffers_free(s, b);
    }
}

static enum wl_status make(struct state *s, struct buffers *b, char *why, size_t size)
{
    void **const halves[] = {&b->in, &b->out};
    const bool from_nccl = b->memory == PROXY_SYMMETRIC;
    for (int i = 0; i < 2; i++) {
        if (memory_alloc(&s->comms, halves[i], b->bytes, from_nccl, why, size) == WL_OK)
            continue;
        drop_unused(s);
        enum wl_status status = memory_alloc(&s->comms, halves[i], b->bytes, from_nccl, why, size);
        if (status != WL_OK)
            return status;
    }
    return fill(s, b, why, size);
}

static bool same(const struct buffers *b, const struct proxy_work *w, int memory)
{
    bool equal = b->memory == memory && b->n == w->n_collectives && b->bytes == w->buffer_B;
    for (size_t i = 0; i < b->n && equal; i++) {
        const struct proxy_collective *x = &b->collective[i], *y = &w->collective[i];
        equal =
            x->collective == y->collective && x->dtype == y->dtype && x->elements == y->elements;
    }
    return equal;
}

enum wl_status buffers_take(struct state *s, const struct proxy_work *w, int memory,
                            struct buffers **out, char *why, size_t size)
{
    struct buffers *b = s->buffers;
    while (b && !same(b, w, memory))
        b = b->next;
    if (b) {
        b->users++;
        *out = b;
        return WL_OK;
    }
    b = calloc(1, sizeof *b);
    struct proxy_collective *copy = malloc(w->n_collectives * sizeof *copy);
    if (!b || !copy) {
        free(b);
        free(copy);
        snprintf(why, size, "out of host memory");
        return WL_FAIL;
    }
    memcpy(copy, w->collective, w->n_collectives * sizeof *copy);
    *b = (struct buffers){.collective = copy,
                          .n = w->n_collectives,
                          .bytes = w->buffer_B,
                          .memory = memory,
                          .users = 1};
    enum wl_status status = make(s, b, why, size);
    if (status != WL_OK) {
        buffers_free(s, b);
        return status;
    }
    b->next = s->buffers;
    s->buffers = *out = b;
    return WL_OK;
}

void buffers_drop(struct buffers *b)
{
    if (b)
        b->users--;
}

cudaError_t buffers_check(struct state *s, const struct buffers *b, struct gpu_mismatch *record)
{
    cudaError_t e = gpu_record_clear(record, s->gpu.stream);
    for (size_t i = 0; i < b->n && !e; i++) {
        struct nccl_operation o = operation_of(&b->collective[i]);
        nccl_operation_check(&s->gpu, &o, (const char *)b->out + b->collective[i].first,
                             s->host->seed, 1, record, &e);
    }
    return e;
}

static void windows_free(struct state *s, struct windows *w)
{
    memory_unregister(&s->comms, w->comm, MEMORY_SYMMETRIC, &w->in);
    memory_unregister(&s->comms, w->comm, MEMORY_SYMMETRIC, &w->out);
    free(w);
}

enum wl_status windows_take(struct state *s, struct buffers *b, struct comm *comm,
                            struct windows **out, char *why, size_t size)
{
    for (struct windows *w = b->windows; w; w = w->next)
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
    *w = (struct windows){.next = b->windows, .comm = comm, .users = 1};
    enum wl_status status =
        memory_register(&s->comms, comm, MEMORY_SYMMETRIC, b->in, b->bytes, &w->in, why, size);
    if (status == WL_OK)
        status = memory_register(&s->comms, comm, MEMORY_SYMMETRIC, b->out, b->bytes, &w->out, why,
                                 size);
    if (status == WL_OK)
        b->windows = *out = w;
    else
        windows_free(s, w);
    return status;
}

void windows_drop(struct state *s, struct buffers *b, struct windows *w)
{
    if (!w || --w->users)
        return;
    for (struct windows **at = &b->windows; *at; at = &(*at)->next)
        if (*at == w) {
            *at = w->next;
            break;
        }
    windows_free(s, w);
}
