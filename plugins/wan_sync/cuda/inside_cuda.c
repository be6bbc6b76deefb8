/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/cuda/inside_cuda.h"

#include "common/cuda_comm.h"

#include <stdio.h>
#include <stdlib.h>

#define LEADER 0

struct state {
    struct gpu gpu;
    struct comms comms;
    struct comm *comm; /* NCCL's own choice of algorithm and protocol */
    float *device, *host;
    size_t count;
    cudaEvent_t done;
    unsigned polls;
};

/* ---- once a process ---- */

static void let_go(struct state *s)
{
    cudaFree(s->device);
    cudaFreeHost(s->host);
    s->device = s->host = NULL;
    s->count = 0;
}

static void inside_close(void *state)
{
    struct state *s = state;
    comms_close(&s->comms);
    let_go(s);
    if (s->done)
        cudaEventDestroy(s->done);
    cuda_close(&s->gpu, &s->comms);
    free(s);
}

static enum wl_status inside_open(void **state, const struct wl_host *site)
{
    struct state *s = calloc(1, sizeof *s);
    *state = NULL;
    if (!s) {
        HOST_FAIL(site, "out of memory");
        return WL_FAIL;
    }
    enum wl_status status = cuda_open(&s->gpu, &s->comms, site);
    TRY(status, gpu_try(&s->gpu, cudaEventCreateWithFlags(&s->done, cudaEventDisableTiming),
                        "cudaEventCreate"));
    TRY(status, comm_get(&s->comms, (struct comm_key){0}, &s->comm));
    if (status == WL_OK)
        *state = s;
    else
        inside_close(s);
    return status;
}

static void inside_abort(void *state)
{
    struct state *s = state;
    cuda_abort(&s->gpu, &s->comms);
}

static enum wl_status make_room(struct state *s, size_t count, char *why, size_t n)
{
    size_t bytes = count * sizeof(float);
    let_go(s);
    if (gpu_alloc((void **)&s->device, bytes, why, n) != cudaSuccess)
        return WL_SKIP;
    if (cudaMallocHost((void **)&s->host, bytes) != cudaSuccess) {
        cudaGetLastError();
        snprintf(why, n,
                 "cannot allocate %.1f MiB of page-locked memory; raise ulimit -l, or lower size",
                 (double)bytes / 1048576);
        return WL_SKIP;
    }
    s->count = count;
    return WL_OK;
}

static enum wl_status inside_reserve(void *state, size_t count, float **host)
{
    struct state *s = state;
    char why[200] = "";
    enum wl_status status = s->count >= count ? WL_OK : make_room(s, count, why, sizeof why);
    *host = s->host;
    return host_agree(s->gpu.host, status, why);
}

/* ---- a synchronisation ---- */

static enum wl_status copy(struct state *s, size_t first, size_t n, enum cudaMemcpyKind kind)
{
    float *device = s->device + first, *host = s->host + first;
    bool up = kind == cudaMemcpyHostToDevice;
    cudaError_t e = cudaMemcpyAsync(up ? device : host, up ? host : device, n * sizeof *device,
                                    kind, s->gpu.stream);
    return gpu_try(&s->gpu, e, "cudaMemcpyAsync");
}

static enum wl_status copy_now(struct state *s, size_t count, enum cudaMemcpyKind kind)
{
    CHECK(copy(s, 0, count, kind));
    return gpu_try(&s->gpu, cudaStreamSynchronize(s->gpu.stream), "a copy");
}

static enum wl_status inside_fill(void *state, size_t count)
{
    return copy_now(state, count, cudaMemcpyHostToDevice);
}

static enum wl_status inside_fetch(void *state, size_t count)
{
    return copy_now(state, count, cudaMemcpyDeviceToHost);
}

static bool leads(const struct state *s)
{
    return s->gpu.host->rank == LEADER;
}

static enum wl_status mark(struct state *s)
{
    s->polls = 0;
    return gpu_try(&s->gpu, cudaEventRecord(s->done, s->gpu.stream), "cudaEventRecord");
}

static enum wl_status inside_inward(void *state, size_t first, size_t n)
{
    struct state *s = state;
    float *part = s->device + first;
    CHECK(comm_try(&s->comms, s->comm,
                   ncclReduce(part, part, n, ncclFloat, ncclSum, LEADER,
                              atomic_load(&s->comm->nccl), s->gpu.stream),
                   "ncclReduce"));
    if (leads(s))
        CHECK(copy(s, first, n, cudaMemcpyDeviceToHost));
    return mark(s);
}

static enum wl_status inside_outward(void *state, size_t first, size_t n)
{
    struct state *s = state;
    float *part = s->device + first;
    if (leads(s))
        CHECK(copy(s, first, n, cudaMemcpyHostToDevice));
    CHECK(comm_try(
        &s->comms, s->comm,
        ncclBroadcast(part, part, n, ncclFloat, LEADER, atomic_load(&s->comm->nccl), s->gpu.stream),
        "ncclBroadcast"));
    return mark(s);
}

static enum inside_state inside_poll(void *state)
{
    struct state *s = state;
    switch (comm_poll(&s->comms, s->comm, s->done, ++s->polls)) {
    case WL_OK:
        return INSIDE_DONE;
    case WL_RETRY:
        return INSIDE_BUSY;
    default:
        return INSIDE_FAILED;
    }
}

static bool inside_lost(void *state)
{
    return gpu_lost(&((struct state *)state)->gpu);
}

__attribute__((visibility("default"))) extern const struct inside_backend wan_inside_v1;
const struct inside_backend wan_inside_v1 = {
    .size = sizeof(struct inside_backend),
    .open = inside_open,
    .close = inside_close,
    .reserve = inside_reserve,
    .fill = inside_fill,
    .fetch = inside_fetch,
    .inward = inside_inward,
    .outward = inside_outward,
    .poll = inside_poll,
    .abort = inside_abort,
    .lost = inside_lost,
};
