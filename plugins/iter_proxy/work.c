/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/work.h"

#include "common/rng.h"
#include "iter_proxy/traits.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ELEMENTS_MAX 0x1p40

bool work_wrong(const struct work_request *q, unsigned line, const char *fmt, ...)
{
    va_list args;
    int at = line ? snprintf(q->why, q->why_size, "%s:%u: ", q->cell->step, line) : 0;
    va_start(args, fmt);
    if (at >= 0 && (size_t)at < q->why_size)
        vsnprintf(q->why + at, q->why_size - (size_t)at, fmt, args);
    va_end(args);
    return false;
}

bool work_allocate(struct proxy_work *w, const struct work_request *q, size_t compute,
                   size_t collectives, size_t tasks)
{
    w->compute = calloc(compute + 1, sizeof *w->compute);
    w->collective = calloc(collectives + 1, sizeof *w->collective);
    w->task = calloc(tasks + 2, sizeof *w->task);
    return (w->compute && w->collective && w->task) || work_wrong(q, 0, "out of memory");
}

void work_free(struct proxy_work *w)
{
    free(w->compute);
    free(w->collective);
    free(w->task);
    *w = (struct proxy_work){0};
}

bool work_has(const struct proxy_work *w, enum proxy_verb verb)
{
    for (size_t i = 0; i < w->n_tasks; i++)
        if (w->task[i].verb == verb)
            return true;
    return false;
}

static uint64_t identify(const struct proxy_work *w)
{
    uint64_t id = 0;
#define ADD(value) (id = mix(id ^ (uint64_t)(value)))
    for (size_t i = 0; i < w->n_compute; i++) {
        const struct proxy_compute *c = &w->compute[i];
        const uint64_t values[] = {(uint64_t)c->m,     (uint64_t)c->n,        (uint64_t)c->k,
                                   (uint64_t)c->count, c->transpose_a,        c->transpose_b,
                                   c->bytes,           (uint64_t)c->precision};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            ADD(values[k]);
    }
    for (size_t i = 0; i < w->n_collectives; i++) {
        const struct proxy_collective *c = &w->collective[i];
        ADD(c->collective);
        ADD(c->dtype);
        ADD(c->elements);
    }
    for (size_t i = 0; i < w->n_tasks; i++) {
        ADD(w->task[i].verb);
        ADD(w->task[i].first);
        ADD(w->task[i].n);
    }
#undef ADD
    return id;
}

/* ---- parts ---- */

static void grow(uint64_t *most, uint64_t value, unsigned *line, unsigned at)
{
    if (value > *most) {
        *most = value;
        *line = at;
    }
}

bool work_add_gemm(struct proxy_work *w, const struct work_request *q, struct proxy_compute c)
{
    c.precision = traits_step_precision(q->kind, c.precision);
    struct proxy_operands *o = &w->operands[proxy_pool(c.precision)];
    /* The host multiplies one after the other, and needs the operands of one. */
    uint64_t count = q->kind == PROXY_HOST ? 1 : (uint64_t)c.count;
    uint64_t m = (uint64_t)c.m, n = (uint64_t)c.n, k = (uint64_t)c.k;
    double largest = (double)count * (double)(m > k ? m : k) * (double)(n > k ? n : k);
    if (largest > ELEMENTS_MAX)
        return work_wrong(q, c.line, "a GEMM of m=%d n=%d k=%d x%d has more than 2^40 elements",
                          c.m, c.n, c.k, c.count);
    grow(&o->a, count * m * k, &o->line, c.line);
    grow(&o->b, count * k * n, &o->line, c.line);
    grow(&o->c, count * m * n, &o->line, c.line);
    w->compute[w->n_compute++] = c;
    return true;
}

void work_add_kernel(struct proxy_work *w, struct proxy_compute c)
{
    if (c.bytes > w->kernel_B)
        w->kernel_B = c.bytes;
    w->compute[w->n_compute++] = c;
}

bool work_add_collective(struct proxy_work *w, const struct work_request *q,
                         struct proxy_collective c)
{
    const uint64_t ranks = (uint64_t)q->ranks;
    if (q->kind == PROXY_HOST) {
        c.elements = (c.elements * step_dtype_B(c.dtype) + sizeof(float) - 1) / sizeof(float);
        c.dtype = STEP_FP32;
    }
    if (c.collective != COLLECTIVE_ALLREDUCE)
        c.elements = (c.elements + ranks - 1) / ranks * ranks;
    if (c.elements >= INT_MAX)
        return work_wrong(q, c.line, "a collective of %llu elements: at most %d",
                          (unsigned long long)c.elements, INT_MAX - 1);
    w->collective[w->n_collectives++] = c;
    return true;
}

void work_add_task(struct proxy_work *w, enum proxy_verb verb, unsigned first, unsigned n)
{
    struct proxy_task *next = w->task + w->n_tasks;
    if (verb == PROXY_COMPUTE && w->n_tasks && next[-1].verb == verb &&
        next[-1].first + next[-1].n == first) {
        next[-1].n += n;
    } else if (verb != PROXY_COMPUTE || n) {
        *next = (struct proxy_task){verb, first, n};
        w->n_tasks++;
    }
}

/* ---- without a step file ---- */

static struct proxy_compute square(const struct proxy_cell *c, enum proxy_backend_kind kind,
                                   unsigned i)
{
    int layout = c->layout;
    if (layout == PROXY_LAYOUT_AUTO && kind == PROXY_CUDA && i >= (unsigned)c->gemms / 3)
        layout = i % 2 ? PROXY_NT : PROXY_TN; /* the two products of a backward pass */
    return (struct proxy_compute){.m = (int)(c->gemm_m ? c->gemm_m : c->gemm),
                                  .n = (int)(c->gemm_n ? c->gemm_n : c->gemm),
                                  .k = (int)(c->gemm_k ? c->gemm_k : c->gemm),
                                  .count = 1,
                                  .precision = traits_precision(kind, c->precision),
                                  .transpose_a = layout == PROXY_TN,
                                  .transpose_b = layout == PROXY_NT};
}

/* Fits: 2^38 elements, 2^16 buckets at most. */
static uint64_t bucket(const struct proxy_cell *c, unsigned b)
{
    return c->size / sizeof(float) * b / (uint64_t)c->buckets;
}

static bool from_cell(struct proxy_work *w, const struct work_request *q)
{
    const struct proxy_cell *c = q->cell;
    const unsigned gemms = (unsigned)c->gemms, buckets = (unsigned)c->buckets;
    if (!work_allocate(w, q, gemms, buckets, 2 * (size_t)buckets + 2))
        return false;
    for (unsigned i = 0; i < gemms; i++)
        if (!work_add_gemm(w, q, square(c, q->kind, i)))
            return false;
    for (unsigned b = 0; b < buckets; b++) {
        struct proxy_collective k = {.collective = (enum collective)c->collective,
                                     .dtype = STEP_FP32,
                                     .elements = bucket(c, b + 1) - bucket(c, b)};
        if (!work_add_collective(w, q, k))
            return false;
    }
    schedule_synthetic(w, c->issue);
    return true;
}

/* ---- places in the buffers ---- */

#define ALIGN 512 /* as PyTorch's allocator */

/* Gathers of equal size and dtype share a place, and scatters do: each holds the same values. */
static const struct proxy_collective *alike(const struct proxy_work *w, size_t n)
{
    const struct proxy_collective *c = &w->collective[n];
    for (size_t i = 0; i < n && c->collective != COLLECTIVE_ALLREDUCE; i++) {
        const struct proxy_collective *other = &w->collective[i];
        if (other->collective == c->collective && other->dtype == c->dtype &&
            other->elements == c->elements)
            return other;
    }
    return NULL;
}

static void place(struct proxy_work *w, bool step)
{
    const uint64_t align = step ? ALIGN : 1;
    for (size_t i = 0; i < w->n_collectives; i++) {
        struct proxy_collective *c = &w->collective[i];
        const struct proxy_collective *other = step ? alike(w, i) : NULL;
        c->first = other ? other->first : w->buffer_B;
        if (!other)
            w->buffer_B += (proxy_collective_B(c) + align - 1) / align * align;
    }
}

enum wl_status work_make(struct proxy_work *w, const struct work_request *q)
{
    bool step = q->cell->step[0];
    *w = (struct proxy_work){0};
    if (!(step ? work_from_step(w, q) : from_cell(w, q))) {
        work_free(w);
        return WL_FAIL;
    }
    place(w, step);
    w->id = identify(w);
    schedule_mode(w, q->cell->mode);
    return WL_OK;
}
