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

static const struct shape {
    cublasOperation_t a, b;
} shapes[] = {{CUBLAS_OP_N, CUBLAS_OP_N}, {CUBLAS_OP_N, CUBLAS_OP_T}, {CUBLAS_OP_T, CUBLAS_OP_N}};

static const struct shape *shape_of(int i, int gemms)
{
    return i < gemms / 3 ? &shapes[0] : &shapes[1 + i % 2];
}

/* Values of both signs between 1/8 and 2, as float bits; their upper halves are bf16. */
static void fill_words(uint64_t words[PAYLOAD_PERIOD], unsigned element_B)
{
    for (unsigned i = 0; i < PAYLOAD_PERIOD; i++) {
        uint64_t bits = (uint64_t)(i & 1) << 31 | (124ull + i / 4) << 23 | (i * 37ull % 128) << 16;
        words[i] = element_B == 4 ? bits : bits >> 16;
    }
}

static cudaError_t fill(struct state *s, struct operands *o)
{
    uint64_t words[PAYLOAD_PERIOD];
    unsigned element_B = precisions[o->precision].element_B;
    fill_words(words, element_B);
    uint64_t salt = s->host->seed;
    cudaError_t e = gpu_fill(o->a, o->n * o->n, element_B, gpu_words(words), salt, s->compute);
    if (!e)
        e = gpu_fill(o->b, o->n * o->n, element_B, gpu_words(words), salt + 77777, s->compute);
    return e ? e : cudaStreamSynchronize(s->compute);
}

static enum wl_status make(struct state *s, struct operands *o, char *why, size_t size)
{
    size_t bytes = o->n * o->n * precisions[o->precision].element_B;
    void **const matrices[] = {&o->a, &o->b, &o->c};
    for (int i = 0; i < 3; i++)
        if (gpu_alloc(matrices[i], bytes, why, size) != cudaSuccess)
            return WL_SKIP;
    cudaError_t e = fill(s, o);
    if (e)
        snprintf(why, size, "operands: %s", cudaGetErrorString(e));
    return e ? WL_FAIL : WL_OK;
}

static void operands_free(struct operands *o)
{
    cudaFree(o->a);
    cudaFree(o->b);
    cudaFree(o->c);
    free(o);
}

enum wl_status operands_take(struct state *s, size_t n, int precision, struct operands **out,
                             char *why, size_t size)
{
    for (struct operands *o = s->operands; o; o = o->next)
        if (o->n == n && o->precision == precision) {
            o->users++;
            *out = o;
            return WL_OK;
        }
    struct operands *o = calloc(1, sizeof *o);
    if (!o) {
        snprintf(why, size, "out of host memory");
        return WL_FAIL;
    }
    *o = (struct operands){.next = s->operands, .n = n, .precision = precision, .users = 1};
    enum wl_status status = make(s, o, why, size);
    if (status != WL_OK) {
        operands_free(o);
        return status;
    }
    s->operands = o;
    *out = o;
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

enum wl_status gemm_queue(struct state *s, const struct operands *o, int i, int gemms)
{
    const float one = 1, zero = 0;
    const struct precision *p = &precisions[o->precision];
    const struct shape *shape = shape_of(i, gemms);
    int n = (int)o->n;
    cublasStatus_t e =
        cublasGemmEx(s->blas, shape->a, shape->b, n, n, n, &one, o->a, p->type, n, o->b, p->type, n,
                     &zero, o->c, p->type, n, p->compute, CUBLAS_GEMM_DEFAULT);
    if (e == CUBLAS_STATUS_SUCCESS)
        return WL_OK;
    HOST_FAIL(s->host, "cublasGemmEx: %s", cublasGetStatusString(e));
    return WL_FAIL;
}

cudaError_t gemm_check(struct state *s, const struct operands *o, int i, int gemms,
                       struct gpu_mismatch *record)
{
    const struct precision *p = &precisions[o->precision];
    const struct shape *shape = shape_of(i, gemms);
    struct gpu_gemm g = {
        o->a, o->b, o->c, o->n, p->element_B, shape->a == CUBLAS_OP_T, shape->b == CUBLAS_OP_T};
    cudaError_t e = gpu_record_clear(record, s->compute);
    return e ? e : gpu_gemm_check(&g, p->tolerance, record, s->compute);
}
