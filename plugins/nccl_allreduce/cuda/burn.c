/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_allreduce/cuda/burn.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#define TRAFFIC_B (64u << 20)
#define WORKSPACE_B (32u << 20)
#define CALIBRATION_PIECES 200

/* Shares of the multiprocessors. What is left over (10% at least) is where the operation under
 * measurement finds room without waiting for a piece to end. */
static const struct {
    double gemm, traffic;
} levels[] = {
    [BURN_NONE] = {0, 0},
    [BURN_LOW] = {0.20, 0.05},
    [BURN_MEDIUM] = {0.45, 0.10},
    [BURN_HIGH] = {0.70, 0.20},
};

static int share(const struct burn *b, double of)
{
    int n = (int)(of * b->gpu->multiprocessors + 0.5);
    return n < 1 ? 1 : n;
}

static enum wl_status blas_try(struct burn *b, cublasStatus_t e, const char *call)
{
    if (e == CUBLAS_STATUS_SUCCESS)
        return WL_OK;
    return HOST_FAILED(b->gpu->host, "%s on GPU %d: %s", call, b->gpu->device,
                       cublasGetStatusString(e));
}

static enum wl_status gemm_piece(struct burn *b)
{
    const float one = 1, zero = 0;
    return blas_try(b,
                    cublasGemmEx(b->blas, CUBLAS_OP_N, CUBLAS_OP_N, BURN_GEMM_N, BURN_GEMM_N,
                                 BURN_GEMM_N, &one, b->a, CUDA_R_16BF, BURN_GEMM_N, b->b,
                                 CUDA_R_16BF, BURN_GEMM_N, &zero, b->c, CUDA_R_16BF, BURN_GEMM_N,
                                 CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                    "cublasGemmEx");
}

static enum wl_status traffic_piece(struct burn *b)
{
    double of = b->level == BURN_NONE ? 1 : levels[b->level].traffic;
    unsigned blocks = (unsigned)share(b, of) * (b->level == BURN_NONE ? 2u : 1u);
    return gpu_try(b->gpu, gpu_copy(b->to, b->from, TRAFFIC_B, blocks, b->traffic.stream),
                   "memory traffic");
}

/* Notes what has finished, then queues up to BURN_AHEAD pieces ahead. */
static enum wl_status top_up(struct burn *b, struct burn_lane *l,
                             enum wl_status (*piece)(struct burn *))
{
    while (l->finished < l->queued &&
           cudaEventQuery(l->done[l->finished % BURN_AHEAD]) == cudaSuccess)
        l->finished++;
    while (l->queued - l->finished < BURN_AHEAD) {
        CHECK(piece(b));
        CHECK(gpu_try(b->gpu, cudaEventRecord(l->done[l->queued % BURN_AHEAD], l->stream),
                      "cudaEventRecord"));
        l->queued++;
    }
    return WL_OK;
}

enum wl_status burn_feed(void *burn)
{
    struct burn *b = burn;
    CHECK(top_up(b, &b->gemm, gemm_piece));
    return top_up(b, &b->traffic, traffic_piece);
}

static enum wl_status lane_begin(struct burn *b, struct burn_lane *l)
{
    l->queued = l->finished = 0;
    return gpu_try(b->gpu, cudaEventRecord(l->begin, l->stream), "cudaEventRecord");
}

/* Waits for the lane and computes its rate since lane_begin. */
static enum wl_status lane_end(struct burn *b, struct burn_lane *l)
{
    float ms = 0;
    cudaError_t e = cudaStreamSynchronize(l->stream);
    if (!e && l->queued)
        e = cudaEventElapsedTime(&ms, l->begin, l->done[(l->queued - 1) % BURN_AHEAD]);
    l->rate = ms > 0 ? (double)l->queued * l->piece / (ms * 1e-3) : 0;
    l->finished = l->queued;
    return gpu_try(b->gpu, e, "contention");
}

enum wl_status burn_start(struct burn *b, enum burn_level level)
{
    b->level = level;
    CHECK(blas_try(b, cublasSetSmCountTarget(b->blas, share(b, levels[level].gemm)),
                   "cublasSetSmCountTarget"));
    CHECK(lane_begin(b, &b->gemm));
    CHECK(lane_begin(b, &b->traffic));
    while (b->gemm.finished == 0 || b->traffic.finished == 0) {
        CHECK(burn_feed(b));
        sched_yield();
    }
    return WL_OK;
}

enum wl_status burn_stop(struct burn *b)
{
    enum wl_status gemm = lane_end(b, &b->gemm), traffic = lane_end(b, &b->traffic);
    return gemm == WL_OK ? traffic : gemm;
}

/* Runs `pieces` pieces or a few more of one lane on an otherwise idle GPU. */
static enum wl_status burn_alone(struct burn *b, struct burn_lane *l, unsigned pieces)
{
    b->level = BURN_NONE;
    CHECK(lane_begin(b, l));
    while (l->queued < pieces)
        CHECK(top_up(b, l, l == &b->gemm ? gemm_piece : traffic_piece));
    return lane_end(b, l);
}

static enum wl_status calibrate(struct burn *b, struct burn_lane *l, const char *key)
{
    const struct wl_host *host = b->gpu->host;
    CHECK(burn_alone(b, l, CALIBRATION_PIECES)); /* warms up */
    CHECK(burn_alone(b, l, CALIBRATION_PIECES));
    l->alone = l->rate;
    char text[64];
    snprintf(text, sizeof text, "%.4g %s alone", l->alone, l == &b->gemm ? "FLOP/s" : "B/s");
    host->note(host->ctx, key, text);
    return WL_OK;
}

static cudaError_t lane_open(struct burn_lane *l, double piece, int priority)
{
    l->piece = piece;
    cudaError_t e = cudaStreamCreateWithPriority(&l->stream, cudaStreamNonBlocking, priority);
    TRY(e, cudaEventCreate(&l->begin));
    for (int i = 0; i < BURN_AHEAD && !e; i++)
        e = cudaEventCreate(&l->done[i]);
    return e;
}

/* Random bf16 in +-{1 .. 1.9}: the clocks of a GPU that multiplies zeros are not those of training.
 */
static cudaError_t fill(struct burn *b)
{
    uint64_t words[PAYLOAD_WORDS];
    for (unsigned i = 0; i < PAYLOAD_WORDS; i++)
        words[i] = 0x3f80u + i * 8u + (i & 1 ? 0x8000u : 0);
    size_t n = (size_t)BURN_GEMM_N * BURN_GEMM_N;
    cudaError_t e = gpu_fill(b->a, n, 2, gpu_words(words), 1, b->gemm.stream);
    TRY(e, gpu_fill(b->b, n, 2, gpu_words(words), 2, b->gemm.stream));
    TRY(e, gpu_fill(b->from, TRAFFIC_B / 2, 2, gpu_words(words), 3, b->traffic.stream));
    return e;
}

static enum wl_status take_memory(struct burn *b, char *why, size_t n)
{
    size_t matrix = (size_t)BURN_GEMM_N * BURN_GEMM_N * 2;
    const struct {
        void **at;
        size_t bytes;
    } wanted[] = {{&b->a, matrix},       {&b->b, matrix},     {&b->c, matrix},
                  {&b->from, TRAFFIC_B}, {&b->to, TRAFFIC_B}, {&b->workspace, WORKSPACE_B}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (gpu_alloc(wanted[i].at, wanted[i].bytes, why, n) != cudaSuccess)
            return WL_SKIP;
    }
    snprintf(why, n, "contention cannot be set up");
    return WL_OK;
}

enum wl_status burn_open(struct burn *b, struct gpu *gpu, char *why, size_t n)
{
    memset(b, 0, sizeof *b);
    b->gpu = gpu;
    int least = 0, greatest = 0;
    CHECK(take_memory(b, why, n));
    cudaError_t e = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    TRY(e, lane_open(&b->gemm, 2.0 * BURN_GEMM_N * BURN_GEMM_N * BURN_GEMM_N, least));
    TRY(e, lane_open(&b->traffic, 2.0 * TRAFFIC_B, least));
    TRY(e, fill(b));
    CHECK(gpu_try(gpu, e, "contention"));
    CHECK(blas_try(b, cublasCreate(&b->blas), "cublasCreate"));
    CHECK(blas_try(b, cublasSetStream(b->blas, b->gemm.stream), "cublasSetStream"));
    CHECK(
        blas_try(b, cublasSetWorkspace(b->blas, b->workspace, WORKSPACE_B), "cublasSetWorkspace"));
    CHECK(calibrate(b, &b->gemm, "contention_gemm"));
    return calibrate(b, &b->traffic, "contention_traffic");
}

static void lane_close(struct burn_lane *l)
{
    for (int i = 0; i < BURN_AHEAD; i++)
        if (l->done[i])
            cudaEventDestroy(l->done[i]);
    if (l->begin)
        cudaEventDestroy(l->begin);
    if (l->stream)
        cudaStreamDestroy(l->stream);
}

void burn_close(struct burn *b)
{
    if (b->blas)
        cublasDestroy(b->blas);
    lane_close(&b->gemm);
    lane_close(&b->traffic);
    void *const memory[] = {b->a, b->b, b->c, b->from, b->to, b->workspace};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        cudaFree(memory[i]);
    memset(b, 0, sizeof *b);
}
