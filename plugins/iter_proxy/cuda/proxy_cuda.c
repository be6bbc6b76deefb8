/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA backend of iter_proxy: GEMMs by cuBLAS and memory-bound kernels on one stream, collectives
 * by NCCL on another of the highest priority, launched one by one or as a CUDA graph.
 */
#include "common/cuda_collective.h"
#include "common/cuda_comm.h"
#include "common/host.h"
#include "iter_proxy/backend.h"

#include <cublas_v2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The operands of all GEMMs of a step, and the memory that its other kernels copy. Shared by the
 * steps that need equal sizes. */
struct operands {
    struct shared shared;
    struct proxy_operands size[PROXY_POOLS];
    uint64_t kernel_B;
    struct matrices {
        void *a, *b, *c;
    } pool[PROXY_POOLS];
    void *from, *to;
};

/* The windows of a step's buffers on one communicator. */
struct windows {
    struct shared shared;
    struct comm *comm;
    void *in, *out;
};

/* Input and output of the collectives of a step: the same exact values for every config and mode with
 * these collectives and this memory. */
struct buffers {
    struct shared shared;
    struct proxy_collective *collective; /* a copy: those that the input is made for */
    size_t n;
    uint64_t bytes; /* of the input, and of the output */
    int memory;     /* enum proxy_memory */
    void *in, *out;
    struct shared *windows;
};

struct state {
    const struct wl_host *host;
    struct gpu gpu; /* gpu.stream communicates */
    struct comms comms;
    cudaStream_t compute;
    cudaEvent_t computed, communicated;
    cublasHandle_t blas;
    void *workspace;
    struct shared *operands, *buffers;
};

struct step {
    struct state *state;
    const struct proxy_cell *cell;
    const struct proxy_work *work;
    struct comm *comm;
    struct operands *operands;        /* NULL: nothing is computed */
    struct buffers *buffers;          /* NULL: nothing is communicated */
    struct windows *windows;          /* NULL: plain memory */
    const struct proxy_compute *last; /* the last GEMM, whose result C holds; NULL: none */
    cudaEvent_t *done;                /* of each collective; NULL: no task waits for one */
    cudaGraphExec_t graph;            /* one iteration; NULL: launched one by one */
    struct gpu_mismatch *gemm_record, *collective_record;
};

/* ==== GEMMs and kernels ==== */

/* How a precision is stored and multiplied, and how far a result may be off, relative to the sum of
 * the magnitudes of its terms: a few roundings of the inputs (tf32: 2^-11) or of the result (bf16:
 * 2^-9). */
static const struct precision {
    unsigned element_B;
    cudaDataType_t type;
    cublasComputeType_t compute;
    double tolerance;
} precisions[] = {
    [PROXY_FP32] = {4, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-5},
    [PROXY_TF32] = {4, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 2e-3},
    [PROXY_BF16] = {2, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 8e-3},
};

/* Values of both signs between 1/8 and 2, as float bits; their upper halves are bf16. */
static void fill_words(uint64_t words[PAYLOAD_WORDS], unsigned element_B)
{
    for (unsigned i = 0; i < PAYLOAD_WORDS; i++) {
        uint64_t bits = (uint64_t)(i & 1) << 31 | (124ull + i / 4) << 23 | (i * 37ull % 128) << 16;
        words[i] = element_B == 4 ? bits : bits >> 16;
    }
}

static cudaError_t fill_operands(struct state *s, const struct operands *o, int pool)
{
    uint64_t words[PAYLOAD_WORDS];
    const unsigned element_B = pool == PROXY_NARROW ? 2 : 4;
    const struct matrices *m = &o->pool[pool];
    fill_words(words, element_B);
    uint64_t salt = s->host->seed;
    cudaError_t e = gpu_fill(m->a, o->size[pool].a, element_B, gpu_words(words), salt, s->compute);
    TRY(e, gpu_fill(m->b, o->size[pool].b, element_B, gpu_words(words), salt + 77777, s->compute));
    return e;
}

static uint64_t copied_B(uint64_t bytes)
{
    return bytes / 2 / 16 * 16 + 16;
}

static enum wl_status make_pool(struct state *s, struct operands *o, int pool,
                                const struct proxy_cell *cell, char *why, size_t size)
{
    const struct proxy_operands *n = &o->size[pool];
    const uint64_t element_B = pool == PROXY_NARROW ? 2 : 4;
    void **const matrices[] = {&o->pool[pool].a, &o->pool[pool].b, &o->pool[pool].c};
    const uint64_t elements[] = {n->a, n->b, n->c};
    char reason[256] = "";
    for (int i = 0; i < 3 && n->c; i++) {
        if (gpu_alloc(matrices[i], elements[i] * element_B, reason, sizeof reason) == cudaSuccess)
            continue;
        if (n->line)
            snprintf(why, size, "%s:%u: %s", cell->step, n->line, reason);
        else
            snprintf(why, size, "%s", reason);
        return WL_SKIP;
    }
    cudaError_t e = n->c ? fill_operands(s, o, pool) : cudaSuccess;
    if (e)
        snprintf(why, size, "operands: %s", cudaGetErrorString(e));
    return e ? WL_FAIL : WL_OK;
}

static enum wl_status make_copied(struct state *s, struct operands *o, char *why, size_t size)
{
    const uint64_t bytes = copied_B(o->kernel_B);
    if (gpu_alloc(&o->from, bytes, why, size) != cudaSuccess ||
        gpu_alloc(&o->to, bytes, why, size) != cudaSuccess)
        return WL_SKIP;
    cudaError_t e = cudaMemsetAsync(o->from, 1, bytes, s->compute);
    if (e)
        snprintf(why, size, "memory to copy: %s", cudaGetErrorString(e));
    return e ? WL_FAIL : WL_OK;
}

static enum wl_status make_operands(struct state *s, struct operands *o,
                                    const struct proxy_cell *cell, char *why, size_t size)
{
    for (int pool = 0; pool < PROXY_POOLS; pool++)
        CHECK(make_pool(s, o, pool, cell, why, size));
    if (o->kernel_B)
        CHECK(make_copied(s, o, why, size));
    cudaError_t e = cudaStreamSynchronize(s->compute);
    if (e)
        snprintf(why, size, "operands: %s", cudaGetErrorString(e));
    return e ? WL_FAIL : WL_OK;
}

static void operands_free(struct operands *o)
{
    for (int pool = 0; pool < PROXY_POOLS; pool++) {
        cudaFree(o->pool[pool].a);
        cudaFree(o->pool[pool].b);
        cudaFree(o->pool[pool].c);
    }
    cudaFree(o->from);
    cudaFree(o->to);
    free(o);
}

static bool operands_fit(const void *operands, const void *work)
{
    const struct operands *o = operands;
    const struct proxy_work *w = work;
    for (int pool = 0; pool < PROXY_POOLS; pool++) {
        const struct proxy_operands *x = &o->size[pool], *y = &w->operands[pool];
        if (x->a != y->a || x->b != y->b || x->c != y->c)
            return false;
    }
    return o->kernel_B == w->kernel_B;
}

/* Not collective; `why` when not WL_OK. A step's GEMM that is too large is named by its line. */
static enum wl_status operands_take(struct state *s, const struct proxy_cell *cell,
                                    const struct proxy_work *w, struct operands **out, char *why,
                                    size_t size)
{
    if ((*out = host_shared_take(s->operands, operands_fit, w)))
        return WL_OK;
    struct operands *o = calloc(1, sizeof *o);
    if (!o)
        return HOST_WHY(WL_FAIL, why, size, "out of host memory");
    o->kernel_B = w->kernel_B;
    for (int pool = 0; pool < PROXY_POOLS; pool++)
        o->size[pool] = w->operands[pool];
    enum wl_status status = make_operands(s, o, cell, why, size);
    if (status != WL_OK) {
        operands_free(o);
        return status;
    }
    host_shared_add(&s->operands, o);
    *out = o;
    return WL_OK;
}

/* cuBLAS stores matrices by columns, so it computes the transposed product: C' = op(B)' op(A)'. */
static cublasStatus_t multiply(struct state *s, const struct matrices *x,
                               const struct proxy_compute *c)
{
    const float one = 1, zero = 0;
    const struct precision *p = &precisions[c->precision];
    const cublasOperation_t opb = c->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t opa = c->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int ldb = c->transpose_b ? c->k : c->n, lda = c->transpose_a ? c->m : c->k;
    if (c->count == 1)
        return cublasGemmEx(s->blas, opb, opa, c->n, c->m, c->k, &one, x->b, p->type, ldb, x->a,
                            p->type, lda, &zero, x->c, p->type, c->n, p->compute,
                            CUBLAS_GEMM_DEFAULT);
    return cublasGemmStridedBatchedEx(
        s->blas, opb, opa, c->n, c->m, c->k, &one, x->b, p->type, ldb, (long long)c->n * c->k, x->a,
        p->type, lda, (long long)c->m * c->k, &zero, x->c, p->type, c->n, (long long)c->m * c->n,
        c->count, p->compute, CUBLAS_GEMM_DEFAULT);
}

/* A block copies 64 KiB, so that the blocks share the multiprocessors as those of a framework's
 * kernel do. */
static enum wl_status copy(struct state *s, const struct operands *o, uint64_t bytes)
{
    uint64_t each = copied_B(bytes), blocks = (each + 65535) / 65536;
    return gpu_try(&s->gpu, gpu_copy(o->to, o->from, each, (unsigned)blocks, s->compute),
                   "a memory-bound kernel");
}

/* Queues a GEMM or a kernel. */
static enum wl_status compute_queue(struct state *s, const struct operands *o,
                                    const struct proxy_compute *c)
{
    if (!c->m)
        return copy(s, o, c->bytes);
    cublasStatus_t e = multiply(s, &o->pool[proxy_pool(c->precision)], c);
    if (e == CUBLAS_STATUS_SUCCESS)
        return WL_OK;
    return HOST_FAILED(s->host, "cublasGemmEx, m=%d n=%d k=%d x%d: %s", c->m, c->n, c->k, c->count,
                       cublasGetStatusString(e));
}

static cudaError_t operands_poison(struct state *s, const struct operands *o)
{
    cudaError_t e = cudaSuccess;
    for (int pool = 0; pool < PROXY_POOLS && !e; pool++)
        if (o->size[pool].c)
            e = cudaMemsetAsync(o->pool[pool].c, 0xff,
                                o->size[pool].c * (pool == PROXY_NARROW ? 2 : 4), s->compute);
    return e;
}

/* Is C the product that this GEMM computes? Queued: `record` will say. */
static cudaError_t gemm_check(struct state *s, const struct operands *o,
                              const struct proxy_compute *c, struct gpu_mismatch *record)
{
    const struct precision *p = &precisions[c->precision];
    const struct matrices *x = &o->pool[proxy_pool(c->precision)];
    struct gpu_gemm g = {x->a,         x->b,         x->c,           (size_t)c->m,  (size_t)c->n,
                         (size_t)c->k, p->element_B, c->transpose_a, c->transpose_b};
    cudaError_t e = gpu_record_clear(record, s->compute);
    return e ? e : gpu_gemm_check(&g, p->tolerance, record, s->compute);
}

/* ==== the buffers of collectives ==== */

static const enum payload_type types[] = {[STEP_FP32] = PAYLOAD_FP32,
                                          [STEP_TF32] = PAYLOAD_FP32,
                                          [STEP_BF16] = PAYLOAD_BF16,
                                          [STEP_FP16] = PAYLOAD_FP16};

static struct nccl_operation operation_of(const struct proxy_collective *c)
{
    return (struct nccl_operation){.collective = c->collective,
                                   .type = types[c->dtype],
                                   .op = PAYLOAD_SUM,
                                   .count = (size_t)c->elements};
}

/* Is every sum exact? */
static bool checkable(const struct state *s, const struct proxy_collective *c, char *why,
                      size_t size)
{
    struct payload_words p;
    if (!collective_reduces(c->collective) ||
        payload_words_make(&p, types[c->dtype], PAYLOAD_SUM, s->host->rank, s->host->ranks, false,
                           1))
        return true;
    snprintf(why, size, "no sum of %s over %d ranks is exact", payload_dtypes[types[c->dtype]].name,
             s->host->ranks);
    return false;
}

static enum wl_status fill_buffers(struct state *s, const struct buffers *b, char *why, size_t size)
{
    cudaError_t e = cudaSuccess;
    for (size_t i = 0; i < b->n && !e; i++) {
        struct nccl_operation o = operation_of(&b->collective[i]);
        if (!checkable(s, &b->collective[i], why, size))
            return WL_SKIP;
        e = nccl_operation_fill(&s->gpu, &o, (char *)b->in + b->collective[i].first, s->host->seed);
    }
    TRY(e, cudaStreamSynchronize(s->gpu.stream));
    if (e)
        snprintf(why, size, "buffers: %s", cudaGetErrorString(e));
    return e ? WL_FAIL : WL_OK;
}

static void buffers_free(struct state *s, struct buffers *b)
{
    comm_memory_free(&s->comms, b->in, b->memory == PROXY_SYMMETRIC);
    comm_memory_free(&s->comms, b->out, b->memory == PROXY_SYMMETRIC);
    free(b->collective);
    free(b);
}

/* Frees those that no step uses, or all. The former only when memory runs out: a graph has shown them
 * to other GPUs. */
static void free_unused(struct state *s, bool all)
{
    for (struct buffers *b; (b = host_shared_out(&s->buffers, all));)
        buffers_free(s, b);
}

static enum wl_status make_buffers(struct state *s, struct buffers *b, char *why, size_t size)
{
    void **const halves[] = {&b->in, &b->out};
    const bool from_nccl = b->memory == PROXY_SYMMETRIC;
    for (int i = 0; i < 2; i++) {
        if (comm_memory_alloc(&s->comms, halves[i], b->bytes, from_nccl, why, size) == WL_OK)
            continue;
        free_unused(s, false);
        CHECK(comm_memory_alloc(&s->comms, halves[i], b->bytes, from_nccl, why, size));
    }
    return fill_buffers(s, b, why, size);
}

/* The buffers of a step, and the step. */
static bool buffers_fit(const void *buffers, const void *step)
{
    const struct buffers *b = buffers;
    const struct proxy_work *w = ((const struct step *)step)->work;
    bool equal = b->memory == ((const struct step *)step)->cell->memory &&
                 b->n == w->n_collectives && b->bytes == w->buffer_B;
    for (size_t i = 0; i < b->n && equal; i++) {
        const struct proxy_collective *x = &b->collective[i], *y = &w->collective[i];
        equal =
            x->collective == y->collective && x->dtype == y->dtype && x->elements == y->elements;
    }
    return equal;
}

static enum wl_status buffers_take(struct step *p, char *why, size_t size)
{
    struct state *s = p->state;
    const struct proxy_work *w = p->work;
    if ((p->buffers = host_shared_take(s->buffers, buffers_fit, p)))
        return WL_OK;
    struct buffers *b = calloc(1, sizeof *b);
    struct proxy_collective *copy = malloc(w->n_collectives * sizeof *copy);
    if (!b || !copy) {
        free(b);
        free(copy);
        snprintf(why, size, "out of host memory");
        return WL_FAIL;
    }
    memcpy(copy, w->collective, w->n_collectives * sizeof *copy);
    *b = (struct buffers){
        .collective = copy, .n = w->n_collectives, .bytes = w->buffer_B, .memory = p->cell->memory};
    enum wl_status status = make_buffers(s, b, why, size);
    if (status != WL_OK) {
        buffers_free(s, b);
        return status;
    }
    host_shared_add(&s->buffers, b);
    p->buffers = b;
    return WL_OK;
}

/* Queues the check of every output on gpu.stream. */
static cudaError_t buffers_check(struct state *s, const struct buffers *b,
                                 struct gpu_mismatch *record)
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
    comm_memory_unregister(&s->comms, w->comm, MEMORY_SYMMETRIC, &w->in);
    comm_memory_unregister(&s->comms, w->comm, MEMORY_SYMMETRIC, &w->out);
    free(w);
}

static bool windows_fit(const void *windows, const void *comm)
{
    return ((const struct windows *)windows)->comm == comm;
}

/* Registers the buffers with the communicator, once for all steps. Collective. */
static enum wl_status windows_take(struct state *s, struct buffers *b, struct comm *comm,
                                   struct windows **out, char *why, size_t size)
{
    if ((*out = host_shared_take(b->windows, windows_fit, comm)))
        return WL_OK;
    struct windows *w = calloc(1, sizeof *w);
    if (!w)
        return HOST_WHY(WL_FAIL, why, size, "out of host memory");
    w->comm = comm;
    enum wl_status status =
        comm_memory_register(&s->comms, comm, MEMORY_SYMMETRIC, b->in, b->bytes, &w->in, why, size);
    TRY(status, comm_memory_register(&s->comms, comm, MEMORY_SYMMETRIC, b->out, b->bytes, &w->out,
                                     why, size));
    if (status != WL_OK) {
        windows_free(s, w);
        return status;
    }
    host_shared_add(&b->windows, w);
    *out = w;
    return WL_OK;
}

/* ==== running and checking a step ==== */

/* The device waits before it aligns the ranks, so that the host, which takes some microseconds a
 * launch, is ahead of it from then on. */
#define DELAY_NS 30000u
#define DELAY_TASK_NS 8000u
#define DELAY_MOST_NS 4000000u

static enum wl_status queue_collective(struct step *p, unsigned i)
{
    struct state *s = p->state;
    const struct proxy_collective *c = &p->work->collective[i];
    struct nccl_operation o = operation_of(c);
    ncclResult_t e = nccl_operation_queue(&s->comms, p->comm, &o, (char *)p->buffers->in + c->first,
                                          (char *)p->buffers->out + c->first);
    CHECK(comm_try(&s->comms, p->comm, e, nccl_operation_name(&o)));
    return p->done ? gpu_try(&s->gpu, cudaEventRecord(p->done[i], s->gpu.stream), "cudaEventRecord")
                   : WL_OK;
}

/* `waiter` goes on when all that `stream` holds now is done. */
static enum wl_status follow(struct state *s, cudaStream_t waiter, cudaStream_t stream,
                             cudaEvent_t event)
{
    cudaError_t e = cudaEventRecord(event, stream);
    TRY(e, cudaStreamWaitEvent(waiter, event, 0));
    return gpu_try(&s->gpu, e, "ordering the streams");
}

static enum wl_status do_task(struct step *p, const struct proxy_task *t)
{
    struct state *s = p->state;
    switch (t->verb) {
    case PROXY_COMPUTE:
        for (unsigned i = t->first; i < t->first + t->n; i++)
            CHECK(compute_queue(s, p->operands, &p->work->compute[i]));
        return WL_OK;
    case PROXY_COMM:
        if (t->n)
            CHECK(follow(s, s->gpu.stream, s->compute, s->computed));
        return queue_collective(p, t->first);
    case PROXY_WAIT:
        return gpu_try(&s->gpu, cudaStreamWaitEvent(s->compute, p->done[t->first], 0),
                       "cudaStreamWaitEvent");
    case PROXY_JOIN:
        CHECK(follow(s, s->gpu.stream, s->compute, s->computed));
        return follow(s, s->compute, s->gpu.stream, s->communicated);
    }
    return WL_FAIL;
}

/* Queues one iteration. */
static enum wl_status step_issue(struct step *p)
{
    for (size_t t = 0; t < p->work->n_tasks; t++)
        CHECK(do_task(p, &p->work->task[t]));
    return WL_OK;
}

/* The same for a capture. A graph must end on the stream where its capture began, so its last task, a
 * JOIN, is then only the half that gpu.stream waits for. */
static enum wl_status issue_captured(void *step)
{
    struct step *p = step;
    struct state *s = p->state;
    CHECK(follow(s, s->compute, s->gpu.stream, s->communicated));
    for (size_t t = 0; t + 1 < p->work->n_tasks; t++)
        CHECK(do_task(p, &p->work->task[t]));
    return follow(s, s->gpu.stream, s->compute, s->computed);
}

static enum wl_status poison_step(void *step)
{
    struct step *p = step;
    struct state *s = p->state;
    cudaError_t e = p->operands ? operands_poison(s, p->operands) : cudaSuccess;
    if (p->buffers && !e)
        e = cudaMemsetAsync(p->buffers->out, 0xff, p->buffers->bytes, s->gpu.stream);
    TRY(e, cudaStreamSynchronize(s->compute));
    TRY(e, cudaStreamSynchronize(s->gpu.stream));
    return gpu_status(&s->gpu, gpu_try(&s->gpu, e, "poisoning the outputs"));
}

static uint64_t delay_of(const struct step *p)
{
    uint64_t launches = p->graph ? 1 : p->work->n_tasks;
    if (p->operands && !p->graph)
        launches += p->work->n_compute;
    uint64_t ns = DELAY_NS + launches * DELAY_TASK_NS;
    return ns < DELAY_MOST_NS ? ns : DELAY_MOST_NS;
}

/* The device waits, the ranks align, both streams start from the event. */
static enum wl_status start(struct step *p)
{
    struct state *s = p->state;
    CHECK(gpu_try(&s->gpu, gpu_delay(delay_of(p), s->gpu.stream), "delay"));
    CHECK(comm_align(&s->comms, p->comm));
    CHECK(gpu_try(&s->gpu, cudaEventRecord(s->gpu.start, s->gpu.stream), "cudaEventRecord"));
    return gpu_try(&s->gpu, cudaStreamWaitEvent(s->compute, s->gpu.start, 0),
                   "cudaStreamWaitEvent");
}

/* Buffers are shared by the steps, so results are checked behind the sample. */
static enum wl_status check(struct step *p)
{
    struct state *s = p->state;
    cudaError_t e = p->buffers ? buffers_check(s, p->buffers, p->collective_record) : cudaSuccess;
    if (p->last && !e)
        e = gemm_check(s, p->operands, p->last, p->gemm_record);
    return gpu_try(&s->gpu, e, "checking the results");
}

static enum wl_status issue(struct step *p, unsigned iters)
{
    struct gpu *g = &p->state->gpu;
    for (unsigned i = 0; i < iters; i++)
        CHECK(p->graph ? gpu_try(g, cudaGraphLaunch(p->graph, g->stream), "cudaGraphLaunch")
                       : step_issue(p));
    return WL_OK;
}

static enum wl_status run_step(void *step, unsigned iters, struct wl_sample *out)
{
    struct step *p = step;
    struct state *s = p->state;
    float ms = 0;
    out->start_ns = now_ns();
    enum wl_status status = start(p);
    TRY(status, issue(p, iters));
    TRY(status, gpu_try(&s->gpu, cudaEventRecord(s->gpu.stop, s->gpu.stream), "cudaEventRecord"));
    TRY(status, comm_wait(&s->comms, p->comm, s->gpu.stop, NULL, NULL));
    TRY(status, gpu_try(&s->gpu, cudaEventElapsedTime(&ms, s->gpu.start, s->gpu.stop),
                        "cudaEventElapsedTime"));
    out->end_ns = now_ns();
    out->values[0] = (double)ms * 1e-3 / iters;
    return gpu_status(&s->gpu, status == WL_OK ? check(p) : status);
}

static enum wl_status verify_step(void *step)
{
    struct step *p = step;
    struct state *s = p->state;
    enum wl_status status = WL_OK;
    if (p->buffers)
        status = gpu_record_read(&s->gpu, p->collective_record, s->gpu.stream,
                                 "the output of a collective");
    if (status == WL_OK && p->last)
        status = gpu_record_read(&s->gpu, p->gemm_record, s->compute,
                                 "the last GEMM, at the places looked at (bits of floats)");
    return gpu_status(&s->gpu, status);
}

/* ==== preparing a step ==== */

static const int algorithm_of[] = {
    [PROXY_ALGORITHM_AUTO] = NCCL_AUTO, [PROXY_RING] = NCCL_RING,  [PROXY_TREE] = NCCL_TREE,
    [PROXY_RECURSIVE_DOUBLING] = -1,    [PROXY_RABENSEIFNER] = -1, [PROXY_NVLS] = NCCL_NVLS};
static const int protocol_of[] = {[PROXY_PROTOCOL_AUTO] = NCCL_ANY,
                                  [PROXY_LL] = NCCL_LL,
                                  [PROXY_LL128] = NCCL_LL128,
                                  [PROXY_SIMPLE] = NCCL_SIMPLE};

static void release_step(void *step)
{
    struct step *p = step;
    if (p->graph)
        cudaGraphExecDestroy(p->graph);
    for (size_t i = 0; p->done && i < p->work->n_collectives; i++)
        if (p->done[i])
            cudaEventDestroy(p->done[i]);
    free(p->done);
    if (host_shared_drop(&p->state->operands, p->operands))
        operands_free(p->operands);
    if (p->windows && host_shared_drop(&p->buffers->windows, p->windows))
        windows_free(p->state, p->windows);
    if (p->buffers)
        p->buffers->shared.users--;
    cudaFree(p->gemm_record);
    cudaFree(p->collective_record);
    free(p);
}

static enum wl_status make_events(struct step *p, char *why, size_t size)
{
    const size_t n = p->work->n_collectives;
    cudaError_t e = cudaSuccess;
    p->done = calloc(n, sizeof *p->done);
    for (size_t i = 0; p->done && i < n && !e; i++)
        e = cudaEventCreateWithFlags(&p->done[i], cudaEventDisableTiming);
    if (p->done && !e)
        return WL_OK;
    snprintf(why, size, "events: %s", e ? cudaGetErrorString(e) : "out of host memory");
    return WL_FAIL;
}

static enum wl_status take_memory(struct step *p, char *why, size_t size)
{
    const struct proxy_work *w = p->work;
    CHECK(gpu_record_new(&p->gemm_record, why, size));
    CHECK(gpu_record_new(&p->collective_record, why, size));
    if (proxy_has(w, PROXY_COMPUTE))
        CHECK(operands_take(p->state, p->cell, w, &p->operands, why, size));
    for (size_t i = 0; p->operands && i < w->n_compute; i++)
        if (w->compute[i].m)
            p->last = &w->compute[i];
    if (proxy_has(w, PROXY_COMM))
        CHECK(buffers_take(p, why, size));
    return proxy_has(w, PROXY_WAIT) ? make_events(p, why, size) : WL_OK;
}

/* Run once before, because libraries load kernels and connect peers at first use. */
static enum wl_status make_graph(struct step *p)
{
    struct state *s = p->state;
    CHECK(step_issue(p));
    CHECK(comm_finish(&s->comms, p->comm, s->communicated));
    CHECK(gpu_graph_make(&s->gpu, issue_captured, p, &p->graph));
    return comm_finish(&s->comms, p->comm, s->communicated);
}

/* Runs the largest collective of each kind once, untimed: it shows whether NCCL accepts the config and
 * which algorithm and protocol it runs. The note "ran" in the recording is about the last of them. */
static enum wl_status try_out(struct step *p)
{
    struct state *s = p->state;
    for (int kind = COLLECTIVE_REDUCESCATTER; kind >= COLLECTIVE_ALLREDUCE; kind--) {
        const struct proxy_collective *largest = NULL;
        for (size_t i = 0; i < p->work->n_collectives; i++) {
            const struct proxy_collective *c = &p->work->collective[i];
            if ((int)c->collective == kind && (!largest || c->elements > largest->elements))
                largest = c;
        }
        if (!largest)
            continue;
        struct nccl_operation o = operation_of(largest);
        CHECK(nccl_operation_try(&s->comms, p->comm, &o, (char *)p->buffers->in + largest->first,
                                 (char *)p->buffers->out + largest->first, s->communicated));
    }
    return WL_OK;
}

static enum wl_status prepare_parts(struct step *p)
{
    struct state *s = p->state;
    char why[256] = "";
    struct comm_key key = {algorithm_of[p->cell->algorithm], protocol_of[p->cell->protocol],
                           (int)p->cell->ctas, p->cell->policy, s->host->copy};
    if (key.algorithm < 0) {
        HOST_FAIL(s->host, "NCCL has no such algorithm: ring, tree or nvls");
        return WL_SKIP;
    }
    CHECK(comm_get(&s->comms, key, &p->comm));
    comm_note(&s->comms, p->comm);
    enum wl_status status = take_memory(p, why, sizeof why);
    CHECK(host_agree(s->host, status, why));
    if (p->buffers && p->cell->memory == PROXY_SYMMETRIC) {
        status = windows_take(s, p->buffers, p->comm, &p->windows, why, sizeof why);
        CHECK(host_agree(s->host, status, why));
    }
    if (p->buffers)
        CHECK(try_out(p));
    return p->cell->launch == PROXY_GRAPH ? make_graph(p) : WL_OK;
}

static enum wl_status prepare_step(void *state, const struct proxy_cell *cell,
                                   const struct proxy_work *work, void **step)
{
    struct state *s = state;
    struct step *p = calloc(1, sizeof *p);
    if (!p)
        return HOST_FAILED(s->host, "out of host memory");
    *p = (struct step){.state = s, .cell = cell, .work = work};
    enum wl_status status = gpu_status(&s->gpu, prepare_parts(p));
    if (status == WL_OK)
        *step = p;
    else
        release_step(p);
    return status;
}

/* ==== once a process ==== */

#define WORKSPACE_B ((size_t)32 << 20)

static cudaError_t set_up_streams(struct state *s)
{
    int least = 0, greatest = 0;
    cudaError_t e = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    TRY(e, cudaStreamCreateWithPriority(&s->compute, cudaStreamNonBlocking, least));
    TRY(e, cudaEventCreateWithFlags(&s->computed, cudaEventDisableTiming));
    TRY(e, cudaEventCreateWithFlags(&s->communicated, cudaEventDisableTiming));
    return e ? e : cudaMalloc(&s->workspace, WORKSPACE_B);
}

static enum wl_status set_up(struct state *s)
{
    CHECK(gpu_try(&s->gpu, set_up_streams(s), "setting up"));
    cublasStatus_t e = cublasCreate(&s->blas);
    if (e == CUBLAS_STATUS_SUCCESS)
        e = cublasSetStream(s->blas, s->compute);
    if (e == CUBLAS_STATUS_SUCCESS)
        e = cublasSetWorkspace(s->blas, s->workspace, WORKSPACE_B);
    if (e == CUBLAS_STATUS_SUCCESS)
        return WL_OK;
    return HOST_FAILED(s->host, "cuBLAS: %s", cublasGetStatusString(e));
}

static void close_proxy(void *state)
{
    struct state *s = state;
    comms_close(&s->comms);
    free_unused(s, true);
    if (s->blas)
        cublasDestroy(s->blas);
    cudaEvent_t events[] = {s->computed, s->communicated};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            cudaEventDestroy(events[i]);
    cudaFree(s->workspace);
    if (s->compute)
        cudaStreamDestroy(s->compute);
    cuda_close(&s->gpu, &s->comms);
    free(s);
}

static enum wl_status open_proxy(void **state, const struct wl_host *host)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return HOST_FAILED(host, "out of host memory");
    s->host = host;
    enum wl_status status = cuda_open(&s->gpu, &s->comms, host);
    TRY(status, comms_pretend(&s->comms, 1));
    TRY(status, set_up(s));
    if (status != WL_OK) {
        close_proxy(s);
        return status;
    }
    char text[32];
    int version = 0;
    cublasGetVersion(s->blas, &version);
    snprintf(text, sizeof text, "%d", version);
    host->note(host->ctx, "cublas", text);
    *state = s;
    return WL_OK;
}

static void abort_proxy(void *state)
{
    struct state *s = state;
    cuda_abort(&s->gpu, &s->comms);
}

__attribute__((visibility("default"))) extern const struct proxy_backend proxy_backend_v1;
const struct proxy_backend proxy_backend_v1 = {
    .size = sizeof(struct proxy_backend),
    .name = "cuda",
    .open = open_proxy,
    .close = close_proxy,
    .prepare = prepare_step,
    .release = release_step,
    .poison = poison_step,
    .run = run_step,
    .verify = verify_step,
    .abort = abort_proxy,
};
