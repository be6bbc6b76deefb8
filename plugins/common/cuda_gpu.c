/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cuda_gpu.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define FLUSH_L2 4 /* times the cache: what pushes all else out of it */

uint64_t gpu_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct gpu_words gpu_words(const uint64_t words[PAYLOAD_PERIOD])
{
    struct gpu_words w;
    memcpy(w.word, words, sizeof w.word);
    return w;
}

struct outcome {
    int status, node;
    char bus[20]; /* PCI address of the rank's GPU */
    char why[232];
};

static int worse(int a, int b)
{
    static const int rank_of[] = {
        [WL_OK] = 0, [WL_RETRY] = 1, [WL_SKIP] = 2, [WL_FAIL] = 3, [WL_LOST] = 4};
    return rank_of[a] >= rank_of[b] ? a : b;
}

/* Every rank tells its outcome to all; `visit` sees each, in order. */
static void tell_all(const struct wl_host *host, const struct outcome *mine,
                     void (*visit)(void *ctx, int rank, const struct outcome *o), void *ctx)
{
    for (int r = 0; r < host->ranks; r++) {
        struct outcome o = *mine;
        host->bcast(host->ctx, &o, sizeof o, r);
        visit(ctx, r, &o);
    }
}

struct verdict {
    const struct wl_host *host;
    struct outcome worst;
    int rank, bad; /* whose it is; how many were not WL_OK */
};

static void judge(void *ctx, int rank, const struct outcome *o)
{
    struct verdict *v = ctx;
    v->bad += o->status != WL_OK;
    if (o->status != WL_OK && worse(v->worst.status, o->status) != v->worst.status) {
        v->worst = *o;
        v->rank = rank;
    }
}

static enum wl_status conclude(const struct verdict *v)
{
    if (v->bad == v->host->ranks)
        HOST_FAIL(v->host, "%s", v->worst.why);
    else if (v->bad)
        HOST_FAIL(v->host, "rank %d: %s", v->rank, v->worst.why);
    return (enum wl_status)v->worst.status;
}

enum wl_status host_agree(const struct wl_host *host, enum wl_status status, const char *why)
{
    struct outcome mine = {.status = (int)status};
    if (status != WL_OK)
        snprintf(mine.why, sizeof mine.why, "%s", why);
    struct verdict v = {.host = host};
    tell_all(host, &mine, judge, &v);
    return conclude(&v);
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
    if (local >= count && count > 1) {
        snprintf(why, n, "%d ranks on this node, but %d GPUs: lower [launch] ranks to %d per node",
                 g->host->local_ranks, count, count);
        return WL_SKIP;
    }
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
    if (!e)
        e = cudaDeviceGetAttribute(&g->multiprocessors, cudaDevAttrMultiProcessorCount, g->device);
    if (!e)
        e = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (!e)
        e = cudaStreamCreateWithPriority(&g->stream, cudaStreamNonBlocking, greatest);
    g->l2_B = (size_t)l2;
    if (!e)
        return WL_OK;
    snprintf(why, n, "GPU %d cannot be set up: %s", g->device, cudaGetErrorString(e));
    return WL_FAIL;
}

struct sharing {
    struct verdict verdict;
    const struct outcome *mine;
    char why[232]; /* "": this rank's GPU is its own */
};

/* Two ranks on one GPU would measure each other. */
static void judge_sharing(void *ctx, int rank, const struct outcome *o)
{
    struct sharing *s = ctx;
    const struct wl_host *host = s->verdict.host;
    judge(&s->verdict, rank, o);
    if (rank != host->rank && o->node == host->node && !strcmp(o->bus, s->mine->bus))
        snprintf(s->why, sizeof s->why,
                 "shares GPU %s with rank %d: this node needs a GPU for each of its %d ranks, or "
                 "fewer ranks in [launch]",
                 o->bus, rank, host->local_ranks);
}

enum wl_status gpu_open(struct gpu *g, const struct wl_host *host)
{
    memset(g, 0, sizeof *g);
    g->host = host;
    struct outcome mine = {.node = host->node};
    mine.status = (int)pick(g, mine.why, sizeof mine.why);
    if (mine.status == WL_OK)
        mine.status = (int)set_up(g, mine.why, sizeof mine.why);
    if (mine.status == WL_OK)
        cudaDeviceGetPCIBusId(mine.bus, sizeof mine.bus, g->device);
    struct sharing s = {.verdict.host = host, .mine = &mine};
    tell_all(host, &mine, judge_sharing, &s);
    if (s.verdict.worst.status != WL_OK)
        return conclude(&s.verdict);
    return host_agree(host, s.why[0] ? WL_SKIP : WL_OK, s.why);
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
    if (!e)
        e = cudaMemset(*record, 0, sizeof **record);
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
    if (!e)
        e = cudaStreamSynchronize(stream);
    if (e || !m.wrong)
        return gpu_try(g, e, "verification");
    return HOST_FAILED(g->host,
                       "%s: %llu elements are wrong: element %llu is 0x%llx, expected 0x%llx", what,
                       m.wrong, m.first, m.found, m.expected);
}
