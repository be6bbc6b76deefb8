/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers of collectives, and the collectives themselves. An all-reduce and a reduce-scatter sum
 * exact payloads. An all-gather moves the exact sums, in another pattern for each rank.
 */
#include "iter_proxy/cuda/proxy_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    enum payload_type payload;
    ncclDataType_t nccl;
} types[] = {[STEP_FP32] = {PAY_FP32, ncclFloat},
             [STEP_TF32] = {PAY_FP32, ncclFloat},
             [STEP_BF16] = {PAY_BF16, ncclBfloat16},
             [STEP_FP16] = {PAY_FP16, ncclHalf}};

/* The pattern of rank r's part of an all-gather. */
static uint64_t salt_of(const struct state *s, const struct proxy_collective *c, int rank)
{
    return s->host->seed + (c->kind == STEP_ALL_GATHER ? (uint64_t)rank * 7919 : 0);
}

static bool make_payload(const struct state *s, const struct proxy_collective *c, struct payload *p,
                         char *why, size_t size)
{
    if (payload_make(p, types[c->dtype].payload, PAY_SUM, s->host->rank, s->host->ranks, false, 1))
        return true;
    snprintf(why, size, "no sum of %s over %d ranks is exact",
             payload_dtypes[types[c->dtype].payload].name, s->host->ranks);
    return false;
}

static cudaError_t fill_one(struct state *s, const struct buffers *b,
                            const struct proxy_collective *c, const struct payload *p)
{
    const int parts = c->kind == STEP_REDUCE_SCATTER ? s->host->ranks : 1;
    const struct gpu_words words = gpu_words(c->kind == STEP_ALL_GATHER ? p->expected : p->input);
    cudaError_t e = cudaSuccess;
    for (int r = 0; r < parts && !e; r++)
        e = gpu_fill(b->in + c->first + (uint64_t)r * c->elements * p->element_B, c->elements,
                     p->element_B, words, salt_of(s, c, s->host->rank), s->gpu.stream);
    return e;
}

static enum wl_status fill(struct state *s, const struct buffers *b, char *why, size_t size)
{
    cudaError_t e = cudaSuccess;
    struct payload p;
    for (size_t i = 0; i < b->n && !e; i++) {
        if (!make_payload(s, &b->collective[i], &p, why, size))
            return WL_SKIP;
        e = fill_one(s, b, &b->collective[i], &p);
    }
    if (!e)
        e = cudaStreamSynchronize(s->gpu.stream);
    if (e)
        snprintf(why, size, "gradients: %s", cudaGetErrorString(e));
    return e ? WL_FAIL : WL_OK;
}

static void buffers_free(struct buffers *b)
{
    cudaFree(b->in);
    cudaFree(b->out);
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
            buffers_free(b);
        }
    }
}

void buffers_close(struct state *s)
{
    while (s->buffers) {
        struct buffers *b = s->buffers;
        s->buffers = b->next;
        buffers_free(b);
    }
}

static enum wl_status make(struct state *s, struct buffers *b, char *why, size_t size)
{
    char **const halves[] = {&b->in, &b->out};
    for (int i = 0; i < 2; i++) {
        if (gpu_alloc((void **)halves[i], b->bytes, why, size) == cudaSuccess)
            continue;
        drop_unused(s);
        if (gpu_alloc((void **)halves[i], b->bytes, why, size) != cudaSuccess)
            return WL_SKIP;
    }
    return fill(s, b, why, size);
}

static bool same(const struct buffers *b, const struct proxy_work *w)
{
    bool equal = b->n == w->n_collectives && b->bytes == w->buffer_B;
    for (size_t i = 0; i < b->n && equal; i++) {
        const struct proxy_collective *x = &b->collective[i], *y = &w->collective[i];
        equal = x->kind == y->kind && x->dtype == y->dtype && x->elements == y->elements;
    }
    return equal;
}

enum wl_status buffers_take(struct state *s, const struct proxy_work *w, struct buffers **out,
                            char *why, size_t size)
{
    struct buffers *b = s->buffers;
    while (b && !same(b, w))
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
    *b = (struct buffers){
        .collective = copy, .n = w->n_collectives, .bytes = w->buffer_B, .users = 1};
    enum wl_status status = make(s, b, why, size);
    if (status != WL_OK) {
        buffers_free(b);
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

ncclResult_t collective_queue(struct state *s, const struct buffers *b, struct comm *comm,
                              const struct proxy_collective *c)
{
    const char *in = b->in + c->first;
    char *out = b->out + c->first;
    const ncclDataType_t type = types[c->dtype].nccl;
    ncclComm_t nccl = atomic_load(&comm->nccl);
    switch (c->kind) {
    case STEP_ALL_GATHER:
        return ncclAllGather(in, out, c->elements, type, nccl, s->gpu.stream);
    case STEP_REDUCE_SCATTER:
        return ncclReduceScatter(in, out, c->elements, type, ncclSum, nccl, s->gpu.stream);
    default:
        return ncclAllReduce(in, out, c->elements, type, ncclSum, nccl, s->gpu.stream);
    }
}

static cudaError_t check_one(struct state *s, const struct buffers *b,
                             const struct proxy_collective *c, const struct payload *p,
                             struct gpu_mismatch *record)
{
    const int parts = c->kind == STEP_ALL_GATHER ? s->host->ranks : 1;
    cudaError_t e = cudaSuccess;
    for (int r = 0; r < parts && !e; r++)
        e = gpu_check(b->out + c->first + (uint64_t)r * c->elements * p->element_B, c->elements,
                      p->element_B, gpu_words(p->expected), salt_of(s, c, r), record,
                      s->gpu.stream);
    return e;
}

cudaError_t buffers_check(struct state *s, const struct buffers *b, struct gpu_mismatch *record)
{
    char why[128];
    struct payload p;
    cudaError_t e = gpu_record_clear(record, s->gpu.stream);
    for (size_t i = 0; i < b->n && !e; i++)
        if (make_payload(s, &b->collective[i], &p, why, sizeof why))
            e = check_one(s, b, &b->collective[i], &p, record);
    return e;
}
