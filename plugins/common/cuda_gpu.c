/* SPDX-License-Identifier: Apache-2.0 */

#include "common/cuda_gpu.h"

#include <stdio.h>
#include <string.h>

struct gpu_words gpu_words(const uint64_t words[PAYLOAD_WORDS])
{
    struct gpu_words w;
    memcpy(w.word, words, sizeof w.word);
    return w;
}

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

/* What to do about an error that keeps a GPU from being had. */
static const char *remedy_of(cudaError_t error)
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
                 remedy_of(error));
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
                       lost ? remedy_of(error) : "");
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
