/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of a recorded step: its lines in their order, with the gradients in buckets. `batch`
 * multiplies the numbers that grow with it. `scale` makes every matrix so much narrower: dimensions
 * times scale, and elements and bytes times its square, so that a laptop can replay a large step.
 * Buckets are formed before they are scaled, so that each keeps its gradients.
 */
#include "iter_proxy/buckets.h"
#include "iter_proxy/work.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

bool work_from_step(struct proxy_work *w, const struct work_request *q)
{
    struct builder b = {.w = w, .q = q};
    bool good = build(&b);
    step_free(&b.file);
    free(b.gradient);
    free(b.bucket);
    return good;
}
