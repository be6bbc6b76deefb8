/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA backend of iter_proxy: GEMMs by cuBLAS on one stream, all-reduces by NCCL on another of the
 * highest priority.
 */
#include "common/cuda_collective.h"
#include "common/cuda_comm.h"
#include "common/host.h"
#include "iter_proxy/backend.h"

#include <cublas_v2.h>
#include <stdio.h>
#include <stdlib.h>

struct state {
    const struct wl_host *host;
    struct gpu gpu; /* gpu.stream communicates */
    struct comms comms;
    cudaStream_t compute;
    cudaEvent_t computed, communicated;
    cublasHandle_t blas;
    void *workspace;
    /* Shared by the steps, which are cells of one group: A, B and C of the GEMMs; input and output of the
     * all-reduces, the same exact values for every config and mode. NULL: no step has needed them. */
    int steps;
    void *a, *b, *c, *in, *out;
};

struct step {
    struct state *state;
    const struct proxy_cell *cell;
    bool computes, communicates;
    struct comm *comm;
    struct gpu_mismatch *gemm_record, *bucket_record;
};

/* ==== GEMMs ==== */

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

/* The forward pass multiplies A B, the backward pass by turns A' B and A B': the layouts of its two
 * products. */
static bool transposes_a(const struct proxy_cell *c, int64_t gemm)
{
    return gemm >= c->gemms / 3 && gemm % 2 == 0;
}

static bool transposes_b(const struct proxy_cell *c, int64_t gemm)
{
    return gemm >= c->gemms / 3 && gemm % 2;
}

static size_t matrix_elements(const struct proxy_cell *c)
{
    return (size_t)c->gemm * (size_t)c->gemm;
}

/* Values of both signs between 1/8 and 2, as float bits, whose upper halves are bf16. */
static enum wl_status take_operands(struct state *s, const struct proxy_cell *c, char *why,
                                    size_t n)
{
    void **const matrices[] = {&s->a, &s->b, &s->c};
    const unsigned element_B = precisions[c->precision].element_B;
    const size_t elements = matrix_elements(c);
    const uint64_t salt = s->host->seed;
    uint64_t words[PAYLOAD_WORDS];
    for (int i = 0; i < 3; i++)
        if (!*matrices[i] && gpu_alloc(matrices[i], elements * element_B, why, n))
            return WL_SKIP;
    for (unsigned i = 0; i < PAYLOAD_WORDS; i++) {
        uint64_t bits = (uint64_t)(i & 1) << 31 | (124ull + i / 4) << 23 | (i * 37ull % 128) << 16;
        words[i] = element_B == 4 ? bits : bits >> 16;
    }
    cudaError_t e = gpu_fill(s->a, elements, element_B, gpu_words(words), salt, s->compute);
    TRY(e, gpu_fill(s->b, elements, element_B, gpu_words(words), salt + 77777, s->compute));
    TRY(e, cudaStreamSynchronize(s->compute));
    return e ? HOST_WHY(WL_FAIL, why, n, "operands: %s", cudaGetErrorString(e)) : WL_OK;
}

/* cuBLAS stores matrices by columns, so it computes the transposed product: C' = op(B)' op(A)'. */
static enum wl_status compute_cuda(void *step, int64_t first, int64_t end)
{
    const struct step *p = step;
    const struct state *s = p->state;
    const struct precision *x = &precisions[p->cell->precision];
    const float one = 1, zero = 0;
    const int n = (int)p->cell->gemm;
    for (int64_t i = first; i < end; i++) {
        cublasStatus_t e = cublasGemmEx(
            p->state->blas, transposes_b(p->cell, i) ? CUBLAS_OP_T : CUBLAS_OP_N,
            transposes_a(p->cell, i) ? CUBLAS_OP_T : CUBLAS_OP_N, n, n, n, &one, s->b, x->type, n,
            s->a, x->type, n, &zero, s->c, x->type, n, x->compute, CUBLAS_GEMM_DEFAULT);
        if (e != CUBLAS_STATUS_SUCCESS)
            return HOST_FAILED(s->host, "cublasGemmEx, n=%d: %s", n, cublasGetStatusString(e));
    }
    return WL_OK;
}

/* ==== buckets ==== */

/* `bytes` of the gradient. The pattern runs over all buckets, so that it is filled and checked at once. */
static struct nccl_operation all_reduce(uint64_t bytes)
{
    return (struct nccl_operation){.collective = COLLECTIVE_ALLREDUCE,
                                   .type = PAYLOAD_FP32,
                                   .count = (size_t)(bytes / sizeof(float))};
}

static struct nccl_operation bucket(const struct step *p, int64_t b, size_t *first_B)
{
    uint64_t first = proxy_bucket(p->cell, b), end = proxy_bucket(p->cell, b + 1);
    *first_B = (size_t)first * sizeof(float);
    return all_reduce((end - first) * sizeof(float));
}

static enum wl_status take_buffers(struct state *s, uint64_t bytes, char *why, size_t n)
{
    if ((!s->in && gpu_alloc(&s->in, bytes, why, n)) || gpu_alloc(&s->out, bytes, why, n))
        return WL_SKIP;
    const struct nccl_operation all = all_reduce(bytes);
    cudaError_t e = nccl_operation_fill(&s->gpu, &all, s->in, s->host->seed);
    TRY(e, cudaStreamSynchronize(s->gpu.stream));
    return e ? HOST_WHY(WL_FAIL, why, n, "buffers: %s", cudaGetErrorString(e)) : WL_OK;
}

/* `waiter` goes on when all that `stream` holds now is done. */
static enum wl_status follow(struct state *s, cudaStream_t waiter, cudaStream_t stream,
                             cudaEvent_t event)
{
    cudaError_t e = cudaEventRecord(event, stream);
    TRY(e, cudaStreamWaitEvent(waiter, event, 0));
    return gpu_try(&s->gpu, e, "ordering the streams");
}

static enum wl_status reduce_cuda(void *step, int64_t b)
{
    struct step *p = step;
    struct state *s = p->state;
    size_t first;
    const struct nccl_operation o = bucket(p, b, &first);
    if (p->computes)
        CHECK(follow(s, s->gpu.stream, s->compute, s->computed));
    ncclResult_t e =
        nccl_operation_queue(&s->comms, p->comm, &o, (char *)s->in + first, (char *)s->out + first);
    return comm_try(&s->comms, p->comm, e, nccl_operation_name(&o));
}

static enum wl_status join_cuda(void *step)
{
    struct state *s = ((struct step *)step)->state;
    CHECK(follow(s, s->gpu.stream, s->compute, s->computed));
    return follow(s, s->compute, s->gpu.stream, s->communicated);
}

/* ==== a sample ==== */

static enum wl_status poison_cuda(void *step)
{
    struct step *p = step;
    struct state *s = p->state;
    const unsigned element_B = precisions[p->cell->precision].element_B;
    cudaError_t e = cudaSuccess; /* all bits set: NaN */
    if (p->computes)
        e = cudaMemsetAsync(s->c, 0xff, matrix_elements(p->cell) * element_B, s->compute);
    if (p->communicates)
        TRY(e, cudaMemsetAsync(s->out, 0xff, p->cell->size, s->gpu.stream));
    TRY(e, cudaStreamSynchronize(s->compute));
    TRY(e, cudaStreamSynchronize(s->gpu.stream));
    return gpu_status(&s->gpu, gpu_try(&s->gpu, e, "poisoning the outputs"));
}

/* The device waits before it aligns the ranks, so that the host, which takes some microseconds a
 * launch, is ahead of it from then on. */
#define DELAY_NS 30000u
#define DELAY_LAUNCH_NS 8000u
#define DELAY_MOST_NS 4000000u

/* Both streams start from the event. */
static enum wl_status start_cuda(void *step, struct wl_sample *out)
{
    struct step *p = step;
    struct state *s = p->state;
    uint64_t launches = 2 + (p->computes ? (uint64_t)p->cell->gemms : 0) +
                        (p->communicates ? 2 * (uint64_t)p->cell->buckets : 0);
    uint64_t delay = DELAY_NS + launches * DELAY_LAUNCH_NS;
    out->start_ns = now_ns();
    CHECK(gpu_try(&s->gpu, gpu_delay(delay < DELAY_MOST_NS ? delay : DELAY_MOST_NS, s->gpu.stream),
                  "delay"));
    CHECK(comm_align(&s->comms, p->comm));
    cudaError_t e = cudaEventRecord(s->gpu.start, s->gpu.stream);
    TRY(e, cudaStreamWaitEvent(s->compute, s->gpu.start, 0));
    return gpu_try(&s->gpu, e, "starting the clock");
}

/* Steps share their buffers, so the checks of the results are queued behind the sample. */
static enum wl_status check_results(struct step *p)
{
    struct state *s = p->state;
    cudaError_t e = cudaSuccess;
    if (p->communicates) {
        const struct nccl_operation all = all_reduce(p->cell->size);
        e = gpu_record_clear(p->bucket_record, s->gpu.stream);
        if (!e)
            nccl_operation_check(&s->gpu, &all, s->out, s->host->seed, 1, p->bucket_record, &e);
    }
    if (p->computes && !e) {
        const struct precision *x = &precisions[p->cell->precision];
        const size_t n = (size_t)p->cell->gemm;
        const int64_t last = p->cell->gemms - 1;
        const struct gpu_gemm g = {s->a,
                                   s->b,
                                   s->c,
                                   n,
                                   n,
                                   n,
                                   x->element_B,
                                   transposes_a(p->cell, last),
                                   transposes_b(p->cell, last)};
        e = gpu_record_clear(p->gemm_record, s->compute);
        TRY(e, gpu_gemm_check(&g, x->tolerance, p->gemm_record, s->compute));
    }
    return gpu_try(&s->gpu, e, "checking the results");
}

static enum wl_status stop_cuda(void *step, unsigned iters, enum wl_status status,
                                struct wl_sample *out)
{
    struct step *p = step;
    struct state *s = p->state;
    float ms = 0;
    TRY(status, gpu_try(&s->gpu, cudaEventRecord(s->gpu.stop, s->gpu.stream), "cudaEventRecord"));
    TRY(status, comm_wait(&s->comms, p->comm, s->gpu.stop));
    TRY(status, gpu_try(&s->gpu, cudaEventElapsedTime(&ms, s->gpu.start, s->gpu.stop),
                        "cudaEventElapsedTime"));
    out->end_ns = now_ns();
    out->values[0] = (double)ms * 1e-3 / iters;
    TRY(status, check_results(p));
    return gpu_status(&s->gpu, status);
}

static enum wl_status verify_cuda(void *step)
{
    struct step *p = step;
    struct state *s = p->state;
    enum wl_status status = WL_OK;
    if (p->communicates)
        status = gpu_record_read(&s->gpu, p->bucket_record, s->gpu.stream, "the reduced gradient");
    if (p->computes)
        TRY(status, gpu_record_read(&s->gpu, p->gemm_record, s->compute,
                                    "the last GEMM, at the places looked at (bits of floats)"));
    return gpu_status(&s->gpu, status);
}

/* ==== preparing a step ==== */

static const int algorithm_of[] = {[PROXY_ALGORITHM_AUTO] = NCCL_AUTO,
                                   [PROXY_RING] = NCCL_RING,
                                   [PROXY_TREE] = NCCL_TREE,
                                   [PROXY_NVLS] = NCCL_NVLS};
static const int protocol_of[] = {[PROXY_PROTOCOL_AUTO] = NCCL_ANY,
                                  [PROXY_LL] = NCCL_LL,
                                  [PROXY_LL128] = NCCL_LL128,
                                  [PROXY_SIMPLE] = NCCL_SIMPLE};

static void release_cuda(void *step)
{
    struct step *p = step;
    struct state *s = p->state;
    void **const shared[] = {&s->a, &s->b, &s->c, &s->in, &s->out};
    if (--s->steps == 0)
        for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
            cudaFree(*shared[i]);
            *shared[i] = NULL;
        }
    cudaFree(p->gemm_record);
    cudaFree(p->bucket_record);
    free(p);
}

/* Not collective; `why` when not WL_OK. */
static enum wl_status take_memory(struct step *p, char *why, size_t n)
{
    struct state *s = p->state;
    CHECK(gpu_record_new(&p->gemm_record, why, n));
    CHECK(gpu_record_new(&p->bucket_record, why, n));
    if (p->computes && !s->c)
        CHECK(take_operands(s, p->cell, why, n));
    return p->communicates && !s->out ? take_buffers(s, p->cell->size, why, n) : WL_OK;
}

/* One all-reduce, untimed, shows whether NCCL accepts the config and which algorithm and protocol it
 * runs. */
static enum wl_status prepare_parts(struct step *p)
{
    struct state *s = p->state;
    const struct proxy_cell *c = p->cell;
    char why[256] = "";
    struct comm_key key = {.algorithm = algorithm_of[c->algorithm],
                           .protocol = protocol_of[c->protocol],
                           .ctas = (int)c->ctas,
                           .copy = s->host->copy};
    CHECK(comm_get(&s->comms, key, &p->comm));
    comm_note(&s->comms, p->comm);
    CHECK(host_agree(s->host, take_memory(p, why, sizeof why), why));
    if (!p->communicates)
        return WL_OK;
    size_t first;
    const struct nccl_operation o = bucket(p, c->buckets - 1, &first); /* of the largest */
    return nccl_operation_try(&s->comms, p->comm, &o, (char *)s->in + first, (char *)s->out + first,
                              s->communicated);
}

static enum wl_status prepare_cuda(void *state, const struct proxy_cell *cell, void **step)
{
    struct state *s = state;
    struct step *p = calloc(1, sizeof *p);
    if (!p)
        return HOST_FAILED(s->host, "out of host memory");
    *p = (struct step){.state = s,
                       .cell = cell,
                       .computes = proxy_computes(cell),
                       .communicates = proxy_communicates(cell)};
    s->steps++;
    enum wl_status status = gpu_status(&s->gpu, prepare_parts(p));
    if (status == WL_OK)
        *step = p;
    else
        release_cuda(p);
    return status;
}

/* ==== once a process ==== */

#define WORKSPACE_B ((size_t)32 << 20)

static void close_cuda(void *state)
{
    struct state *s = state;
    comms_close(&s->comms);
    if (s->blas)
        cublasDestroy(s->blas);
    if (s->computed)
        cudaEventDestroy(s->computed);
    if (s->communicated)
        cudaEventDestroy(s->communicated);
    cudaFree(s->workspace);
    if (s->compute)
        cudaStreamDestroy(s->compute);
    cuda_close(&s->gpu, &s->comms);
    free(s);
}

static enum wl_status set_up(struct state *s)
{
    int least = 0, greatest = 0;
    cudaError_t e = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    TRY(e, cudaStreamCreateWithPriority(&s->compute, cudaStreamNonBlocking, least));
    TRY(e, cudaEventCreateWithFlags(&s->computed, cudaEventDisableTiming));
    TRY(e, cudaEventCreateWithFlags(&s->communicated, cudaEventDisableTiming));
    TRY(e, cudaMalloc(&s->workspace, WORKSPACE_B));
    CHECK(gpu_try(&s->gpu, e, "setting up"));
    cublasStatus_t b = cublasCreate(&s->blas);
    TRY(b, cublasSetStream(s->blas, s->compute));
    TRY(b, cublasSetWorkspace(s->blas, s->workspace, WORKSPACE_B));
    return b ? HOST_FAILED(s->host, "cuBLAS: %s", cublasGetStatusString(b)) : WL_OK;
}

static enum wl_status open_cuda(void **state, const struct wl_host *host)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return HOST_FAILED(host, "out of host memory");
    s->host = host;
    enum wl_status status = cuda_open(&s->gpu, &s->comms, host);
    TRY(status, comms_pretend(&s->comms, 1));
    TRY(status, set_up(s));
    if (status != WL_OK) {
        close_cuda(s);
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

static void abort_cuda(void *state)
{
    struct state *s = state;
    cuda_abort(&s->gpu, &s->comms);
}

__attribute__((visibility("default"))) extern const struct proxy_backend proxy_backend_v2;
const struct proxy_backend proxy_backend_v2 = {
    .size = sizeof(struct proxy_backend),
    .name = "cuda",
    .open = open_cuda,
    .close = close_cuda,
    .prepare = prepare_cuda,
    .release = release_cuda,
    .poison = poison_cuda,
    .start = start_cuda,
    .compute = compute_cuda,
    .reduce = reduce_cuda,
    .join = join_cuda,
    .stop = stop_cuda,
    .verify = verify_cuda,
    .abort = abort_cuda,
};
