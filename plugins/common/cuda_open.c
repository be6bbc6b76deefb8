/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cuda_open.h"

#include <stdio.h>
#include <time.h>

#define ABORT_GRACE_NS 500000000

static cudaError_t make_marks(struct gpu *g)
{
    size_t bytes = (size_t)(g->host->ranks + 1) * sizeof *g->align;
    cudaError_t e = cudaMalloc((void **)&g->align, bytes);
    if (!e)
        e = cudaMemset(g->align, 0, bytes);
    if (!e)
        e = cudaEventCreate(&g->start);
    return e ? e : cudaEventCreate(&g->stop);
}

static void note(const struct wl_host *host, const char *key, const char *format, int a, int b,
                 int c)
{
    char text[96];
    snprintf(text, sizeof text, format, a, b, c);
    host->note(host->ctx, key, text);
}

static void note_machine(const struct gpu *g, const struct comms *comms)
{
    const struct wl_host *host = g->host;
    int runtime = 0, driver = 0, v = comms->version;
    struct cudaDeviceProp prop;
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    note(host, "nccl", "%d.%d.%d", v / 10000, v % 10000 / 100, v % 100);
    note(host, "cuda_runtime", "%d.%d", runtime / 1000, runtime % 1000 / 10, 0);
    note(host, "cuda_driver", "%d.%d", driver / 1000, driver % 1000 / 10, 0);
    if (cudaGetDeviceProperties(&prop, g->device) != cudaSuccess)
        return;
    host->note(host->ctx, "gpu", prop.name);
    note(host, "gpu_shape", "%d SMs, %d MiB L2, compute capability %d", g->multiprocessors,
         (int)(g->l2_B >> 20), prop.major * 10 + prop.minor);
}

enum wl_status cuda_open(struct gpu *g, struct comms *c, const struct wl_host *host)
{
    enum wl_status status = gpu_open(g, host);
    if (status != WL_OK)
        return status;
    gpu_note_peers(g);
    status = comms_open(c, g);
    if (status == WL_OK)
        status = gpu_try(g, make_marks(g), "setting up");
    if (status == WL_OK)
        note_machine(g, c);
    return status;
}

void cuda_close(struct gpu *g, struct comms *c)
{
    comms_close(c);
    cudaFree(g->align);
    if (g->start)
        cudaEventDestroy(g->start);
    if (g->stop)
        cudaEventDestroy(g->stop);
    gpu_close(g);
}

void cuda_abort(struct gpu *g, struct comms *c)
{
    struct timespec grace = {.tv_nsec = ABORT_GRACE_NS};
    atomic_store(&g->aborted, true);
    nanosleep(&grace, NULL);
    comms_abort(c);
}
