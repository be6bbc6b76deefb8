/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/work.h"

#include "common/rng.h"
#include "iter_proxy/traits.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ELEMENTS_MAX 0x1p40

__attribute__((format(printf, 3, 4))) static bool work_wrong(const struct work_request *q,
                                                             unsigned line, const char *fmt, ...)
{
    va_list args;
    int at = line ? snprintf(q->why, q->why_size, "%s:%u: ", q->cell->step, line) : 0;
    va_start(args, fmt);
    if (at >= 0 && (size_t)at < q->why_size)
        vsnprintf(q->why + at, q->why_size - (size_t)at, fmt, args);
    va_end(args);
    return false;
}

/* Allocates zeroed room for this many of each. False, as below: `why` is written. */
static bool work_allocate(struct proxy_work *w, const struct work_request *q, size_t compute,
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

static uint64_t identify(const struct proxy_work *w)
{
    uint64_t id = 0;
#define ADD(value) (id = rng_mix(id ^ (uint64_t)(value)))
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

/* ==== parts ==== */

static void grow(uint64_t *most, uint64_t value, unsigned *line, unsigned at)
{
    if (value > *most) {
        *most = value;
        *line = at;
    }
}

/* On the host everything is computed and sent as fp32. */
static bool work_add_gemm(struct proxy_work *w, const struct work_request *q,
                          struct proxy_compute c)
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

static void work_add_kernel(struct proxy_work *w, struct proxy_compute c)
{
    if (c.bytes > w->kernel_B)
        w->kernel_B = c.bytes;
    w->compute[w->n_compute++] = c;
}

/* `elements` of the whole buffer, which is padded to a multiple of the ranks. */
static bool work_add_collective(struct proxy_work *w, const struct work_request *q,
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

static void work_add_task(struct proxy_work *w, enum proxy_verb verb, unsigned first, unsigned n)
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

/* ==== the order of the tasks ==== */

/* The order of the tasks of one iteration (backend.h), by mode:
 *   compute     A  every GEMM and kernel
 *   comm        B  every collective, at once
 *   sequential  C  all of A, then all of B
 *   overlapped  D  both at the same time: a step in the order of its file, anything else by `issue`:
 *     after   The first third of the GEMMs is the forward pass. The rest is the backward pass,
 *             split evenly between the buckets. A bucket is issued after its share, as in
 *             data-parallel training. No GEMM overlaps the last bucket.
 *     beside  All GEMMs are split between the buckets. A bucket is issued when its share begins, as
 *             if the gradients of the previous micro-batch were reduced.
 */

/* GEMMs [first, end) of bucket b's share of those from `forward` on. */
static void put_share(struct proxy_work *w, unsigned forward, unsigned b)
{
    uint64_t rest = w->n_compute - forward, buckets = w->n_collectives;
    unsigned first = forward + (unsigned)(rest * b / buckets);
    work_add_task(w, PROXY_COMPUTE, first, forward + (unsigned)(rest * (b + 1) / buckets) - first);
}

/* Adds the tasks of mode = overlapped, by `issue` (enum proxy_issue), without the JOIN. */
static void schedule_synthetic(struct proxy_work *w, int issue)
{
    unsigned forward = issue == PROXY_AFTER ? (unsigned)w->n_compute / 3 : 0;
    work_add_task(w, PROXY_COMPUTE, 0, forward);
    for (unsigned b = 0; b < w->n_collectives; b++) {
        if (issue == PROXY_BESIDE)
            work_add_task(w, PROXY_COMM, b, 1);
        put_share(w, forward, b);
        if (issue == PROXY_AFTER)
            work_add_task(w, PROXY_COMM, b, 1);
    }
}

/* Turns the tasks of mode = overlapped into those of `mode`, and adds the JOIN. */
static void schedule_mode(struct proxy_work *w, int mode)
{
    if (mode != PROXY_MODE_OVERLAPPED)
        w->n_tasks = 0;
    if (mode == PROXY_MODE_COMPUTE || mode == PROXY_MODE_SEQUENTIAL)
        work_add_task(w, PROXY_COMPUTE, 0, (unsigned)w->n_compute);
    if (mode == PROXY_MODE_COMM || mode == PROXY_MODE_SEQUENTIAL)
        for (unsigned i = 0; i < w->n_collectives; i++)
            work_add_task(w, PROXY_COMM, i, mode == PROXY_MODE_SEQUENTIAL);
    work_add_task(w, PROXY_JOIN, 0, 0);
}

/* ==== without a step file ==== */

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

/* ==== buckets ==== */

unsigned buckets_form(struct bucket_gradient *gradient, size_t n, uint64_t first, uint64_t cap)
{
    struct {
        bool open, later; /* later: its first bucket is full */
        unsigned bucket;
        uint64_t bytes;
    } of[BUCKET_DTYPES] = {0};
    unsigned buckets = 0;
    for (size_t i = 0; i < n; i++) {
        const int d = gradient[i].dtype;
        if (!of[d].open) {
            of[d].open = true;
            of[d].bucket = buckets++;
            of[d].bytes = 0;
        }
        gradient[i].bucket = of[d].bucket;
        of[d].bytes += gradient[i].bytes;
        if (of[d].bytes >= (of[d].later ? cap : first)) {
            of[d].open = false;
            of[d].later = true;
        }
    }
    return buckets;
}

/* ==== with a step file ==== */

/* The work of a recorded step: its lines in their order, with the gradients in buckets. `batch`
 * multiplies the numbers that grow with it. `scale` makes every matrix so much narrower: dimensions
 * times scale, and elements and bytes times its square, so that a laptop can replay a large step.
 * Buckets are formed before they are scaled, so that each keeps its gradients.
 */

struct builder {
    struct proxy_work *w;
    const struct work_request *q;
    struct step_file file;
    struct bucket_gradient *gradient;
    size_t n_gradients, seen;
    struct bucket {
        uint64_t elements;
        unsigned left, line; /* gradients that are not ready */
        enum step_dtype dtype;
    } * bucket;
    unsigned buckets, next; /* next: not issued yet; buckets are issued in their order */
    const char *group;
};

static double amount(const struct builder *b, struct step_number n)
{
    return (double)n.value * (n.per_batch ? (double)b->q->cell->batch : 1);
}

static bool dimension(const struct builder *b, const struct step_line *l, int i, int *out)
{
    double value = amount(b, l->number[i]);
    if (i != STEP_COUNT)
        value = ceil(value * b->q->cell->scale);
    if (value > 0x1p31 - 1)
        return work_wrong(b->q, l->line, "with batch=%lld a dimension is %.0f, above 2^31",
                          (long long)b->q->cell->batch, value);
    *out = (int)value;
    return true;
}

static uint64_t scaled(const struct builder *b, double value)
{
    double scale = b->q->cell->scale;
    return (uint64_t)ceil(value * scale * scale);
}

static bool add_gemm(struct builder *b, const struct step_line *l)
{
    static const int precisions[] = {[STEP_FP32] = PROXY_FP32,
                                     [STEP_TF32] = PROXY_TF32,
                                     [STEP_BF16] = PROXY_BF16,
                                     [STEP_FP16] = PROXY_BF16};
    struct proxy_compute c = {.precision = precisions[l->dtype],
                              .transpose_a = l->transpose_a,
                              .transpose_b = l->transpose_b,
                              .line = l->line};
    return dimension(b, l, STEP_M, &c.m) && dimension(b, l, STEP_N, &c.n) &&
           dimension(b, l, STEP_K, &c.k) && dimension(b, l, STEP_COUNT, &c.count) &&
           work_add_gemm(b->w, b->q, c);
}

static bool add_collective(struct builder *b, const struct proxy_collective c)
{
    unsigned i = (unsigned)b->w->n_collectives;
    if (!work_add_collective(b->w, b->q, c))
        return false;
    work_add_task(b->w, PROXY_COMM, i, 1);
    return true;
}

/* A replay has one communicator. */
static bool add_recorded(struct builder *b, const struct step_line *l)
{
    if (!b->group)
        b->group = l->group;
    if (strcmp(b->group, l->group) != 0)
        return work_wrong(b->q, l->line,
                          "group %s beside group %s: a replay has one group, all ranks; remove the "
                          "lines of one",
                          l->group, b->group);
    static const enum collective collectives[] = {[STEP_ALL_REDUCE] = COLLECTIVE_ALLREDUCE,
                                                  [STEP_ALL_GATHER] = COLLECTIVE_ALLGATHER,
                                                  [STEP_REDUCE_SCATTER] = COLLECTIVE_REDUCESCATTER};
    return add_collective(b,
                          (struct proxy_collective){.collective = collectives[l->kind],
                                                    .dtype = l->dtype,
                                                    .elements = scaled(b, amount(b, l->number[0])),
                                                    .line = l->line});
}

/* A bucket is issued when its last gradient is ready and the buckets before it are issued. */
static bool gradient_ready(struct builder *b)
{
    b->bucket[b->gradient[b->seen++].bucket].left--;
    while (b->next < b->buckets && b->bucket[b->next].left == 0) {
        const struct bucket *k = &b->bucket[b->next++];
        if (!add_collective(b, (struct proxy_collective){.collective = COLLECTIVE_ALLREDUCE,
                                                         .dtype = k->dtype,
                                                         .elements = scaled(b, (double)k->elements),
                                                         .line = k->line}))
            return false;
    }
    return true;
}

static bool add_line(struct builder *b, const struct step_line *l)
{
    struct proxy_work *w = b->w;
    const unsigned compute = (unsigned)w->n_compute;
    switch (l->kind) {
    case STEP_GEMM:
        if (!add_gemm(b, l))
            return false;
        work_add_task(w, PROXY_COMPUTE, compute, 1);
        return true;
    case STEP_KERNEL:
        work_add_kernel(w, (struct proxy_compute){.bytes = scaled(b, amount(b, l->number[0])),
                                                  .line = l->line});
        work_add_task(w, PROXY_COMPUTE, compute, 1);
        return true;
    case STEP_GRADIENT:
        return gradient_ready(b);
    case STEP_WAIT:
        if (w->n_collectives > l->number[0].value)
            work_add_task(w, PROXY_WAIT, (unsigned)(w->n_collectives - 1 - l->number[0].value), 0);
        return true;
    default:
        return add_recorded(b, l);
    }
}

/* Gradients of the file, in the order in which they are ready, and their buckets. */
static bool form_buckets(struct builder *b)
{
    b->gradient = calloc(b->file.n, sizeof *b->gradient);
    b->bucket = calloc(b->file.n, sizeof *b->bucket);
    if (!b->gradient || !b->bucket)
        return work_wrong(b->q, 0, "out of memory");
    for (size_t i = 0; i < b->file.n; i++) {
        const struct step_line *l = &b->file.line[i];
        if (l->kind == STEP_GRADIENT)
            b->gradient[b->n_gradients++] = (struct bucket_gradient){
                .bytes = l->number[0].value * step_dtype_B(l->dtype), .dtype = (int)l->dtype};
    }
    b->buckets =
        buckets_form(b->gradient, b->n_gradients, b->q->cell->bucket_first, b->q->cell->bucket_cap);
    b->w->bucketed = b->n_gradients > 0;
    size_t seen = 0;
    for (size_t i = 0; i < b->file.n; i++) {
        const struct step_line *l = &b->file.line[i];
        if (l->kind != STEP_GRADIENT)
            continue;
        struct bucket *k = &b->bucket[b->gradient[seen++].bucket];
        k->elements += l->number[0].value;
        k->dtype = l->dtype;
        k->line = l->line;
        k->left++;
    }
    return true;
}

/* A path that the current folder lacks is looked for in the checkout or the installation that this
 * plugin belongs to: PLUGINS/../.. or PREFIX/share/gradsync. */
static const char *find(const char *path, char buf[PATH_MAX])
{
    static const char *const above[] = {"../../", "../../../share/gradsync/"};
    static const char here;
    Dl_info info;
    if (path[0] == '/' || access(path, F_OK) == 0 || !dladdr(&here, &info) || !info.dli_fname)
        return path;
    const char *slash = strrchr(info.dli_fname, '/');
    int folder = slash ? (int)(slash + 1 - info.dli_fname) : 0;
    for (int i = 0; i < 2; i++) {
        int n = snprintf(buf, PATH_MAX, "%.*s%s%s", folder, info.dli_fname, above[i], path);
        if (n > 0 && n < PATH_MAX && access(buf, F_OK) == 0)
            return buf;
    }
    return path;
}

static bool build(struct builder *b)
{
    const struct work_request *q = b->q;
    char path[PATH_MAX];
    if (!step_read(&b->file, find(q->cell->step, path), q->why, q->why_size) || !form_buckets(b) ||
        !work_allocate(b->w, q, b->file.n, b->file.n, 2 * b->file.n))
        return false;
    for (size_t i = 0; i < b->file.n; i++)
        if (!add_line(b, &b->file.line[i]))
            return false;
    if (!b->w->n_compute || !b->w->n_collectives)
        return work_wrong(q, b->file.line[b->file.n - 1].line, "a step without %s",
                          b->w->n_compute ? "gradients and collectives" : "gemm and kernel lines");
    return true;
}

static bool work_from_step(struct proxy_work *w, const struct work_request *q)
{
    struct builder b = {.w = w, .q = q};
    bool good = build(&b);
    step_free(&b.file);
    free(b.gradient);
    free(b.bucket);
    return good;
}

/* ==== places in the buffers ==== */

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
