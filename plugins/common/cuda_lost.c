/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cuda_gpu.h"

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
