/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_allreduce/cuda/nccl_cuda.h"

#include <stdlib.h>

static void close_cuda(void *self)
{
    struct state *s = self;
    comms_close(&s->comms);
    if (s->can_burn)
        burn_close(&s->burn);
    arenas_free(s);
    if (s->done)
        cudaEventDestroy(s->done);
    cuda_close(&s->gpu, &s->comms);
    free(s);
}

static enum wl_status open_cuda(void **self, const struct wl_host *host)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return HOST_FAILED(host, "out of host memory");
    s->host = host;
    enum wl_status status = cuda_open(&s->gpu, &s->comms, host);
    if (status == WL_OK)
        status = gpu_try(&s->gpu, cudaEventCreateWithFlags(&s->done, cudaEventDisableTiming),
                         "setting up");
    if (status != WL_OK) {
        close_cuda(s);
        return status;
    }
    *self = s;
    return WL_OK;
}

static void abort_cuda(void *self)
{
    struct state *s = self;
    cuda_abort(&s->gpu, &s->comms);
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
