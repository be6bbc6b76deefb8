/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds what an operation runs from a graph that it is captured in: the name and blocks of its
 * kernel, or that it has none, because copy engines move the data. The driver knows kernels that the
 * CUDA runtime of this library does not, such as NCCL's.
 */
#include "common/cuda_comm.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX 256

typedef CUresult node_type(CUgraphNode, CUgraphNodeType *);
typedef CUresult kernel_params(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *);
typedef CUresult function_name(const char **, CUfunction);

static void *driver_symbol(const char *name)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = driver ? dlsym(driver, name) : NULL;
    if (driver)
        dlclose(driver); /* it stays loaded: the runtime uses it */
    return symbol;
}

/* "SendRecv" of "_Z22ncclDevKernel_SendRecv24ncclDevKernelArgsStorageILm4096EE". */
static void take_name(struct comm_ran *ran, const char *mangled)
{
    static const char prefix[] = "ncclDevKernel_";
    const char *at = strstr(mangled, prefix);
    long n = !strncmp(mangled, "_Z", 2) ? strtol(mangled + 2, NULL, 10) : (long)strlen(mangled);
    long skip = at ? (long)strlen(prefix) : 0;
    at = at ? at + skip : mangled;
    snprintf(ran->algorithm, sizeof ran->algorithm, "%.*s", (int)(n - skip), at);
}

/* The largest kernel counts. */
static bool take_kernel(struct comm_ran *ran, CUgraphNode node)
{
    union {
        void *object;
        kernel_params *function;
    } params = {.object = driver_symbol("cuGraphKernelNodeGetParams_v2")};
    union {
        void *object;
        function_name *function;
    } name = {.object = driver_symbol("cuFuncGetName")};
    CUDA_KERNEL_NODE_PARAMS p;
    const char *text = NULL;
    if (!params.function || params.function(node, &p) != CUDA_SUCCESS)
        return false;
    if ((int)p.gridDimX <= ran->ctas)
        return true;
    ran->ctas = (int)p.gridDimX;
    if (name.function && p.func && name.function(&text, p.func) == CUDA_SUCCESS && text)
        take_name(ran, text);
    return true;
}

static bool unknown(struct comm_ran *ran, const char *what, const char *why)
{
    *ran = (struct comm_ran){0};
    snprintf(ran->why, sizeof ran->why, "%s: %s", what, why);
    return false;
}

/* Asks the driver for the types of the nodes: the runtime fails on the memory operations that NCCL
 * queues for copy engines. */
static bool read_graph(struct comm_ran *ran, cudaGraph_t graph)
{
    union {
        void *object;
        node_type *function;
    } type_of = {.object = driver_symbol("cuGraphNodeGetType")};
    cudaGraphNode_t nodes[NODES_MAX];
    size_t n = NODES_MAX;
    *ran = (struct comm_ran){.known = true, .algorithm = "copy-engine"};
    cudaError_t e = cudaGraphGetNodes(graph, nodes, &n);
    if (e != cudaSuccess || n == 0)
        return unknown(ran, "cudaGraphGetNodes", e ? cudaGetErrorString(e) : "an empty graph");
    for (size_t i = 0; i < n; i++) {
        CUgraphNodeType type;
        if (!type_of.function || type_of.function(nodes[i], &type) != CUDA_SUCCESS)
            return unknown(ran, "cuGraphNodeGetType", "no type");
        if (type != CU_GRAPH_NODE_TYPE_KERNEL)
            continue;
        if (ran->ctas == 0)
            snprintf(ran->algorithm, sizeof ran->algorithm, "kernel");
        if (!take_kernel(ran, nodes[i]))
            return unknown(ran, "cuGraphKernelNodeGetParams", "no parameters");
    }
    return true;
}

struct comm_ran comm_look_at_graph(struct comms *c, ncclResult_t (*queue)(void *ctx), void *ctx)
{
    const struct wl_host *host = c->gpu->host;
    struct comm_ran ran;
    cudaGraph_t graph = NULL;
    cudaError_t begun = cudaStreamBeginCapture(c->gpu->stream, cudaStreamCaptureModeThreadLocal);
    if (begun == cudaSuccess) {
        ncclResult_t e = queue(ctx);
        cudaError_t ended = cudaStreamEndCapture(c->gpu->stream, &graph);
        if (e != ncclSuccess)
            unknown(&ran, "NCCL in a captured stream", ncclGetErrorString(e));
        else if (ended != cudaSuccess)
            unknown(&ran, "cudaStreamEndCapture", cudaGetErrorString(ended));
        else
            read_graph(&ran, graph);
        if (graph)
            cudaGraphDestroy(graph);
    } else {
        unknown(&ran, "cudaStreamBeginCapture", cudaGetErrorString(begun));
    }
    cudaGetLastError(); /* a failure here is no failure of the operation */
    host->bcast(host->ctx, &ran, sizeof ran, 0);
    return ran;
}
