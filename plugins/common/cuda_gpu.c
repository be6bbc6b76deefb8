/* SPDX-License-Identifier: Apache-2.0 */

#include "common/cuda_gpu.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define FLUSH_L2 4 /* times the cache: what pushes all else out of it */

struct gpu_words gpu_words(const uint64_t words[PAYLOAD_WORDS])
{
    struct gpu_words w;
    memcpy(w.word, words, sizeof w.word);
    return w;
}

/* What to do about an error that keeps a GPU from being had. */
static const struct {
    cudaError_t error;
    const char *remedy;
} remedies[] = {
    {cudaErrorMemoryAllocation, "its memory is full: nvidia-smi lists who uses it"},
    {cudaErrorDevicesUnavailable, "another process uses it exclusively: nvidia-smi lists it"},
    {cudaErrorSystemNotReady, "start nvidia-fabricmanager, which GPUs behind NVSwitch need"},
    {cudaErrorSystemDriverMismatch,
     "the driver's library and kernel module have different versions: reboot, or give the "
     "container this host's library"},
    {cudaErrorCompatNotSupportedOnDevice,
     "this GPU cannot run on CUDA's compatibility library: build with the driver's CUDA_HOME"},
    {cudaErrorECCUncorrectable, "its memory has failed: leave it out with CUDA_VISIBLE_DEVICES"},
};

const char *gpu_remedy(cudaError_t error)
{
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (remedies[i].error == error)
            return remedies[i].remedy;
    return "try nvidia-smi, and the kernel's log for NVRM";
}

/* Why no GPU can be had, with the remedy. */
static void explain(char *why, size_t n, int device, cudaError_t error)
{
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
        snprintf(why, n, "no NVIDIA driver on this machine: run where nvidia-smi lists GPUs");
    else if (error == cudaErrorNoDevice)
        snprintf(why, n,
                 "the NVIDIA driver sees no GPU: run where nvidia-smi lists some "
                 "(CUDA_VISIBLE_DEVICES may hide them)");
    else if (driver < runtime && error == cudaErrorInsufficientDriver)
        snprintf(why, n,
                 "the NVIDIA driver is for CUDA %d.%d, older than the runtime %d.%d: update "
                 "it, or build with an older CUDA_HOME",
                 driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    else
        snprintf(why, n, "CUDA cannot start on GPU %d: %s; %s", device, cudaGetErrorName(error),
                 gpu_remedy(error));
}

/* One GPU each: by local rank, or the only one that a launcher lets this rank see. */
static enum wl_status pick(struct gpu *g, char *why, size_t n)
{
    int count = 0, local = g->host->local_rank;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        explain(why, n, local, error ? error : cudaErrorNoDevice);
        return WL_SKIP;
    }
    if (local >= count && count > 1)
        return HOST_WHY(WL_SKIP, why, n,
                        "%d ranks on this node, but %d GPUs: lower [launch] ranks to %d per node",
                        g->host->local_ranks, count, count);
    g->device = count == 1 ? 0 : local;
    error = cudaSetDevice(g->device);
    if (error == cudaSuccess)
        error = cudaFree(NULL); /* makes the context now: its faults belong to open */
    if (error != cudaSuccess) {
        explain(why, n, g->device, error);
        return WL_SKIP;
    }
    return WL_OK;
}

static enum wl_status set_up(struct gpu *g, char *why, size_t n)
{
    int l2 = 0, least = 0, greatest = 0;
    cudaError_t e = cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, g->device);
    TRY(e, cudaDeviceGetAttribute(&g->multiprocessors, cudaDevAttrMultiProcessorCount, g->device));
    TRY(e, cudaDeviceGetStreamPriorityRange(&least, &greatest));
    TRY(e, cudaStreamCreateWithPriority(&g->stream, cudaStreamNonBlocking, greatest));
    g->l2_B = (size_t)l2;
    if (!e)
        return WL_OK;
    snprintf(why, n, "GPU %d cannot be set up: %s", g->device, cudaGetErrorString(e));
    return WL_FAIL;
}

/* Two ranks on one GPU would measure each other. Collective. */
static enum wl_status refuse_sharing(const struct gpu *g)
{
    const struct wl_host *host = g->host;
    struct place {
        int node;
        char bus[20]; /* PCI address of the rank's GPU */
    } mine = {.node = host->node};
    char why[200] = "";
    cudaDeviceGetPCIBusId(mine.bus, sizeof mine.bus, g->device);
    for (int r = 0; r < host->ranks; r++) {
        struct place o = mine;
        host->bcast(host->ctx, &o, sizeof o, r);
        if (r != host->rank && o.node == mine.node && !strcmp(o.bus, mine.bus))
            snprintf(
                why, sizeof why,
                "shares GPU %s with rank %d: this node needs a GPU for each of its %d ranks, or "
                "fewer ranks in [launch]",
                o.bus, r, host->local_ranks);
    }
    return host_agree(host, why[0] ? WL_SKIP : WL_OK, why);
}

enum wl_status gpu_open(struct gpu *g, const struct wl_host *host)
{
    char why[232] = "";
    memset(g, 0, sizeof *g);
    g->host = host;
    enum wl_status status = pick(g, why, sizeof why);
    TRY(status, set_up(g, why, sizeof why));
    CHECK(host_agree(host, status, why));
    return refuse_sharing(g);
}

void gpu_close(struct gpu *g)
{
    cudaFree(g->scratch);
    if (g->stream)
        cudaStreamDestroy(g->stream);
    g->scratch = NULL;
    g->stream = NULL;
}

size_t gpu_free_memory(void)
{
    size_t free_B = 0, total_B = 0;
    return cudaMemGetInfo(&free_B, &total_B) == cudaSuccess ? free_B : SIZE_MAX;
}

void gpu_say_memory(size_t bytes, char *why, size_t n)
{
    size_t free_B = 0, total_B = 0;
    cudaMemGetInfo(&free_B, &total_B);
    snprintf(why, n,
             "%.1f MiB of device memory needed, but %.1f MiB of %.1f MiB are free: use smaller "
             "sizes, or GPUs that nobody else uses",
             (double)bytes / 1048576, (double)free_B / 1048576, (double)total_B / 1048576);
}

cudaError_t gpu_alloc(void **p, size_t bytes, char *why, size_t n)
{
    cudaError_t e = cudaMalloc(p, bytes);
    if (e == cudaSuccess)
        return e;
    cudaGetLastError(); /* an allocation that failed is not an error of the next launch */
    if (e == cudaErrorMemoryAllocation)
        gpu_say_memory(bytes, why, n);
    else
        snprintf(why, n, "cudaMalloc: %s (%s)", cudaGetErrorString(e), cudaGetErrorName(e));
    return e;
}

cudaError_t gpu_flush_prepare(struct gpu *g, char *why, size_t n)
{
    return g->scratch ? cudaSuccess : gpu_alloc(&g->scratch, FLUSH_L2 * g->l2_B, why, n);
}

enum wl_status gpu_flush(struct gpu *g)
{
    return gpu_try(g, cudaMemsetAsync(g->scratch, 0x5a, FLUSH_L2 * g->l2_B, g->stream),
                   "cudaMemsetAsync");
}

enum wl_status gpu_record_new(struct gpu_mismatch **record, char *why, size_t n)
{
    cudaError_t e = cudaMalloc((void **)record, sizeof **record);
    TRY(e, cudaMemset(*record, 0, sizeof **record));
    if (e)
        snprintf(why, n, "allocating the record of a check: %s (%s)", cudaGetErrorString(e),
                 cudaGetErrorName(e));
    return e ? WL_FAIL : WL_OK;
}

cudaError_t gpu_record_clear(struct gpu_mismatch *record, cudaStream_t stream)
{
    return cudaMemsetAsync(record, 0, sizeof *record, stream);
}

enum wl_status gpu_record_read(struct gpu *g, const struct gpu_mismatch *record,
                               cudaStream_t stream, const char *what)
{
    struct gpu_mismatch m;
    cudaError_t e = cudaMemcpyAsync(&m, record, sizeof m, cudaMemcpyDeviceToHost, stream);
    TRY(e, cudaStreamSynchronize(stream));
    if (e || !m.wrong)
        return gpu_try(g, e, "verification");
    return HOST_FAILED(g->host,
                       "%s: %llu elements are wrong: element %llu is 0x%llx, expected 0x%llx", what,
                       m.wrong, m.first, m.found, m.expected);
}

/* The error that CUDA keeps. A query, because a kernel that waits for a lost peer never ends. */
static cudaError_t kept(const struct gpu *g)
{
    if (!g->stream)
        return cudaSuccess;
    cudaGetLastError(); /* forgets an error of one call, which the next launch would report */
    cudaError_t e = cudaStreamQuery(g->stream);
    return e == cudaErrorNotReady ? cudaSuccess : e;
}

bool gpu_lost(const struct gpu *g)
{
    return kept(g) != cudaSuccess;
}

enum wl_status gpu_status(const struct gpu *g, enum wl_status status)
{
    return status != WL_OK && gpu_lost(g) ? WL_LOST : status;
}

enum wl_status gpu_try(struct gpu *g, cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return WL_OK;
    bool lost = kept(g) == error;
    return HOST_FAILED(g->host, "%s on GPU %d: %s (%s)%s%s", call, g->device,
                       cudaGetErrorString(error), cudaGetErrorName(error), lost ? "; " : "",
                       lost ? gpu_remedy(error) : "");
}

static enum wl_status capture(struct gpu *g, enum wl_status (*issue)(void *arg), void *arg,
                              cudaGraph_t *graph)
{
    CHECK(gpu_try(g, cudaStreamBeginCapture(g->stream, cudaStreamCaptureModeThreadLocal),
                  "cudaStreamBeginCapture"));
    enum wl_status status = issue(arg);
    cudaError_t e = cudaStreamEndCapture(g->stream, graph);
    CHECK(status);
    return gpu_try(g, e, "cudaStreamEndCapture");
}

enum wl_status gpu_graph_make(struct gpu *g, enum wl_status (*issue)(void *arg), void *arg,
                              cudaGraphExec_t *exec)
{
    cudaGraph_t graph = NULL;
    enum wl_status status = capture(g, issue, arg, &graph);
    TRY(status, gpu_try(g, cudaGraphInstantiateWithFlags(exec, graph, 0), "cudaGraphInstantiate"));
    if (graph)
        cudaGraphDestroy(graph);
    CHECK(status);
    CHECK(gpu_try(g, cudaGraphUpload(*exec, g->stream), "cudaGraphUpload"));
    return gpu_try(g, cudaGraphLaunch(*exec, g->stream), "cudaGraphLaunch");
}

/* Checks whether the GPUs of one host reach each other's memory. If not, NCCL uses host memory or
 * sockets at a fraction of the speed, and tells only its log. Each rank queries the driver about
 * the GPUs it sees. If the launcher shows each rank only its own GPU, nothing can be checked. */

/* Paths from one rank's GPU to the GPUs of the other ranks on its node, by the driver. */
struct ways {
    int asked, open;
    char from[20], to[20]; /* PCI addresses of the first way that is closed */
};

static void ask(const struct gpu *g, struct ways *w)
{
    int count = 0;
    cudaGetDeviceCount(&count);
    for (int d = 0; d < count && d < g->host->local_ranks; d++) {
        int can = 0;
        if (d == g->device || cudaDeviceCanAccessPeer(&can, g->device, d) != cudaSuccess)
            continue;
        w->asked++;
        w->open += can;
        if (can || *w->from)
            continue;
        cudaDeviceGetPCIBusId(w->from, sizeof w->from, g->device);
        cudaDeviceGetPCIBusId(w->to, sizeof w->to, d);
    }
}

void gpu_note_peers(const struct gpu *g)
{
    const struct wl_host *host = g->host;
    struct ways mine = {0}, all = {0};
    char text[400];
    ask(g, &mine);
    for (int r = 0; r < host->ranks; r++) {
        struct ways theirs = mine;
        host->bcast(host->ctx, &theirs, sizeof theirs, r);
        all.asked += theirs.asked;
        all.open += theirs.open;
        if (*theirs.from && !*all.from) {
            memcpy(all.from, theirs.from, sizeof all.from);
            memcpy(all.to, theirs.to, sizeof all.to);
        }
    }
    snprintf(text, sizeof text, "%d of %d ways between GPUs of one node", all.open, all.asked);
    host->note(host->ctx, "peer_access", text);
    if (!*all.from)
        return;
    snprintf(text, sizeof text,
             "no peer access from GPU %s to %s (%d of %d ways are open): NCCL goes through host "
             "memory or sockets instead, several times slower; nvidia-smi topo -p2p r shows the "
             "ways. Turn PCIe ACS or the IOMMU off, or give one container or machine all of the "
             "GPUs; some GPUs have none",
             all.from, all.to, all.open, all.asked);
    host->note(host->ctx, WL_WARNING, text);
}

/* ==== contention ==== */

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

enum wl_status burn_alone(struct burn *b, struct burn_lane *l, unsigned pieces)
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
