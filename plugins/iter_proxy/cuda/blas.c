/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/cuda/proxy_cuda.h"

#include <stdio.h>
#include <stdlib.h>

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
static void fill_words(uint64_t words[PAYLOAD_PERIOD], unsigned element_B)
{
    for (unsigned i = 0; i < PAYLOAD_PERIOD; i++) {
        uint64_t bits = (uint64_t)(i & 1) << 31 | (124ull + i / 4) << 23 | (i * 37ull % 128) << 16;
        words[i] = element_B == 4 ? bits : bits >> 16;
    }
}

static cudaError_t fill(struct state *s, const struct operands *o, int pool)
{
    uint64_t words[PAYLOAD_PERIOD];
    const unsigned element_B = pool == PROXY_NARROW ? 2 : 4;
    const struct matrices *m = &o->pool[pool];
    fill_words(words, element_B);
    uint64_t salt = s->host->seed;
    cudaError_t e = gpu_fill(m->a, o->size[pool].a, element_B, gpu_words(words), salt, s->compute);
    if (!e)
        e = gpu_fill(m->b, o->size[pool].b, element_B, gpu_words(words), salt + 77777, s->compute);
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
    cudaError_t e = n->c ? fill(s, o, pool) : cudaSuccess;
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

static enum wl_status make(struct state *s, struct operands *o, const struct proxy_cell *cell,
                           char *why, size_t size)
{
    enum wl_status status = WL_OK;
    for (int pool = 0; pool < PROXY_POOLS && status == WL_OK; pool++)
        status = make_pool(s, o, pool, cell, why, size);
    if (status == WL_OK && o->kernel_B)
        status = make_copied(s, o, why, size);
    if (status != WL_OK)
        return status;
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

static bool fits(const struct operands *o, const struct proxy_work *w)
{
    for (int pool = 0; pool < PROXY_POOLS; pool++) {
        const struct proxy_operands *x = &o->size[pool], *y = &w->operands[pool];
        if (x->a != y->a || x->b != y->b || x->c != y->c)
            return false;
    }
    return o->kernel_B == w->kernel_B;
}

enum wl_status operands_take(struct state *s, const struct proxy_cell *cell,
                             const struct proxy_work *w, struct operands **out, char *why,
                             size_t size)
{
    for (struct operands *o = s->operands; o; o = o->next)
        if (fits(o, w)) {
            o->users++;
            *out = o;
            return WL_OK;
        }
    struct operands *o = calloc(1, sizeof *o);
    if (!o) {
        snprintf(why, size, "out of host memory");
        return WL_FAIL;
    }
    o->kernel_B = w->kernel_B;
    o->users = 1;
    for (int pool = 0; pool < PROXY_POOLS; pool++)
        o->size[pool] = w->operands[pool];
    enum wl_status status = make(s, o, cell, why, size);
    if (status != WL_OK) {
        operands_free(o);
        return status;
    }
    o->next = s->operands;
    s->operands = *out = o;
    return WL_OK;
}

void operands_drop(struct state *s, struct operands *o)
{
    if (!o || --o->users)
        return;
    for (struct operands **at = &s->operands; *at; at = &(*at)->next)
        if (*at == o) {
            *at = o->next;
            break;
        }
    operands_free(o);
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

enum wl_status compute_queue(struct state *s, const struct operands *o,
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

cudaError_t operands_poison(struct state *s, const struct operands *o)
{
    cudaError_t e = cudaSuccess;
    for (int pool = 0; pool < PROXY_POOLS && !e; pool++)
        if (o->size[pool].c)
            e = cudaMemsetAsync(o->pool[pool].c, 0xff,
                                o->size[pool].c * (pool == PROXY_NARROW ? 2 : 4), s->compute);
    return e;
}

cudaError_t gemm_check(struct state *s, const struct operands *o, const struct proxy_compute *c,
                       struct gpu_mismatch *record)
{
    const struct precision *p = &precisions[c->precision];
    const struct matrices *x = &o->pool[proxy_pool(c->precision)];
    struct gpu_gemm g = {x->a,         x->b,         x->c,           (size_t)c->m,  (size_t)c->n,
                         (size_t)c->k, p->element_B, c->transpose_a, c->transpose_b};
    cudaError_t e = gpu_record_clear(record, s->compute);
    return e ? e : gpu_gemm_check(&g, p->tolerance, record, s->compute);
}
