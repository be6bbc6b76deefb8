/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/cuda/proxy_cuda.h"

#include <stdio.h>
#include <stdlib.h>

#define WORKSPACE_B ((size_t)32 << 20)

static void note_version(const struct state *s)
{
    char text[32];
    int v = 0;
    cublasGetVersion(s->blas, &v);
    snprintf(text, sizeof text, "%d", v);
    s->host->note(s->host->ctx, "cublas", text);
}

static cudaError_t set_up_streams(struct state *s)
{
    int least = 0, greatest = 0;
    cudaError_t e = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (!e)
        e = cudaStreamCreateWithPriority(&s->compute, cudaStreamNonBlocking, least);
    if (!e)
        e = cudaEventCreateWithFlags(&s->computed, cudaEventDisableTiming);
    if (!e)
        e = cudaEventCreateWithFlags(&s->communicated, cudaEventDisableTiming);
    return e ? e : cudaMalloc(&s->workspace, WORKSPACE_B);
}

static enum wl_status set_up(struct state *s)
{
    enum wl_status status = gpu_try(&s->gpu, set_up_streams(s), "setting up");
    if (status != WL_OK)
        return status;
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
    buffers_close(s);
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
    if (status == WL_OK)
        status = comms_pretend(&s->comms, 1);
    if (status == WL_OK)
        status = set_up(s);
    if (status != WL_OK) {
        close_proxy(s);
        return status;
    }
    note_version(s);
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
