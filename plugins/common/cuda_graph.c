/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cuda_gpu.h"

static enum wl_status capture(struct gpu *g, enum wl_status (*issue)(void *arg), void *arg,
                              cudaGraph_t *graph)
{
    enum wl_status status =
        gpu_try(g, cudaStreamBeginCapture(g->stream, cudaStreamCaptureModeThreadLocal),
                "cudaStreamBeginCapture");
    if (status != WL_OK)
        return status;
    status = issue(arg);
    cudaError_t e = cudaStreamEndCapture(g->stream, graph);
    return status == WL_OK ? gpu_try(g, e, "cudaStreamEndCapture") : status;
}

enum wl_status gpu_graph_make(struct gpu *g, enum wl_status (*issue)(void *arg), void *arg,
                              cudaGraphExec_t *exec)
{
    cudaGraph_t graph = NULL;
    enum wl_status status = capture(g, issue, arg, &graph);
    if (status == WL_OK)
        status = gpu_try(g, cudaGraphInstantiateWithFlags(exec, graph, 0), "cudaGraphInstantiate");
    if (graph)
        cudaGraphDestroy(graph);
    if (status == WL_OK)
        status = gpu_try(g, cudaGraphUpload(*exec, g->stream), "cudaGraphUpload");
    if (status == WL_OK)
        status = gpu_try(g, cudaGraphLaunch(*exec, g->stream), "cudaGraphLaunch");
    return status;
}
