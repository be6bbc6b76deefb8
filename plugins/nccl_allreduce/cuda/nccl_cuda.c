/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ABORT_GRACE_NS 500000000

static void note(const struct state *s, const char *key, const char *format, int a, int b, int c)
{
    char text[96];
    snprintf(text, sizeof text, format, a, b, c);
    s->host->note(s->host->ctx, key, text);
}

static void note_machine(const struct state *s)
{
    int runtime = 0, driver = 0, v = s->comms.version;
    struct cudaDeviceProp prop;
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    note(s, "nccl", "%d.%d.%d", v / 10000, v % 10000 / 100, v % 100);
    note(s, "cuda_runtime", "%d.%d", runtime / 1000, runtime % 1000 / 10, 0);
    note(s, "cuda_driver", "%d.%d", driver / 1000, driver % 1000 / 10, 0);
    if (cudaGetDeviceProperties(&prop, s->gpu.device) == cudaSuccess)
        s->host->note(s->host->ctx, "gpu", prop.name);
    note(s, "gpu_shape", "%d SMs, %d MiB L2, compute capability %d", s->gpu.multiprocessors,
         (int)(s->gpu.l2_B >> 20), prop.major * 10 + prop.minor);
}

static void close_cuda(void *self)
{
    struct state *s = self;
    comms_close(&s->comms);
    if (s->can_burn)
        burn_close(&s->burn);
    arenas_free(s);
    cudaFree(s->align);
    cudaEvent_t events[] = {s->start, s->stop, s->done};
    for (int i = 0; i < 3; i++)
        if (events[i])
            cudaEventDestroy(events[i]);
    gpu_close(&s->gpu);
    free(s);
}

static enum wl_status set_up(struct state *s)
{
    cudaError_t e = cudaMalloc((void **)&s->align, 2 * sizeof *s->align);
    if (!e)
        e = cudaMemset(s->align, 0, 2 * sizeof *s->align);
    if (!e)
        e = cudaEventCreate(&s->start);
    if (!e)
        e = cudaEventCreate(&s->stop);
    if (!e)
        e = cudaEventCreateWithFlags(&s->done, cudaEventDisableTiming);
    return gpu_try(&s->gpu, e, "setting up");
}

static enum wl_status open_cuda(void **self, const struct wl_host *host)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s) {
        HOST_FAIL(host, "out of host memory");
        return WL_FAIL;
    }
    s->host = host;
    enum wl_status status = gpu_open(&s->gpu, host);
    if (status == WL_OK)
        gpu_note_peers(&s->gpu);
    if (status == WL_OK)
        status = comms_open(&s->comms, &s->gpu);
    if (status == WL_OK)
        status = set_up(s);
    if (status != WL_OK) {
        close_cuda(s);
        return status;
    }
    note_machine(s);
    *self = s;
    return WL_OK;
}

/* The waiting thread ends the communicators itself; one that does not within the grace is stuck in
 * NCCL. */
static void abort_cuda(void *self)
{
    struct state *s = self;
    struct timespec grace = {.tv_nsec = ABORT_GRACE_NS};
    atomic_store(&s->gpu.aborted, true);
    nanosleep(&grace, NULL);
    comms_abort(&s->comms);
}

__attribute__((visibility("default"))) extern const struct nccl_backend nccl_allreduce_backend_v1;
const struct nccl_backend nccl_allreduce_backend_v1 = {
    .size = sizeof(struct nccl_backend),
    .open = open_cuda,
    .close = close_cuda,
    .prepare = prepare_cuda,
    .release = release_cuda,
    .sample = sample_cuda,
    .verify = verify_cuda,
    .abort = abort_cuda,
};
