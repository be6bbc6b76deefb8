/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs/cuda/pairs_cuda.h"

#include <stdlib.h>

struct gpu_words words_of(int rank, int plus)
{
    uint64_t words[PAYLOAD_PERIOD];
    for (size_t i = 0; i < PAYLOAD_PERIOD; i++)
        words[i] = (uint32_t)(pairs_word(rank, i) + (plus < 0 ? 0 : pairs_word(plus, i)));
    return gpu_words(words);
}

enum wl_status elapsed(struct state *s, unsigned times, double *seconds)
{
    float ms = 0;
    enum wl_status status = gpu_try(&s->gpu, cudaEventElapsedTime(&ms, s->gpu.start, s->gpu.stop),
                                    "cudaEventElapsedTime");
    *seconds = (double)ms * 1e-3 / times;
    return status;
}

static void close_cuda(void *state)
{
    struct state *s = state;
    for (int i = 0; s->pair && i < s->host->ranks; i++)
        pair_end(s, i);
    burn_close(&s->burn);
    cudaFree(s->send);
    cudaFree(s->receive);
    cudaFree(s->wrong);
    cudaFreeHost(s->mine);
    cudaFreeHost(s->back);
    cuda_close(&s->gpu, &s->comms);
    free(s->pair);
    free(s);
}

static enum wl_status allocate(struct state *s, char *why, size_t n)
{
    size_t bytes = s->cell.size;
    enum wl_status status = burn_open(&s->burn, &s->gpu, why, n);
    if (status != WL_OK)
        return status;
    if (gpu_alloc((void **)&s->send, bytes, why, n) ||
        gpu_alloc((void **)&s->receive, bytes, why, n))
        return WL_SKIP;
    status = gpu_record_new(&s->wrong, why, n);
    cudaError_t e = cudaMallocHost((void **)&s->mine, bytes);
    if (!e)
        e = cudaMallocHost((void **)&s->back, bytes);
    if (!e)
        e = gpu_fill(s->send, bytes / 4, 4, words_of(s->host->rank, -1), 0, s->gpu.stream);
    if (!e)
        e = cudaMemcpyAsync(s->mine, s->send, bytes, cudaMemcpyDeviceToHost, s->gpu.stream);
    if (!e)
        e = cudaStreamSynchronize(s->gpu.stream);
    return status == WL_OK ? gpu_try(&s->gpu, e, "setting up") : status;
}

static enum wl_status open_cuda(void **state, const struct wl_host *host,
                                const struct pairs_cell *cell)
{
    char why[256] = "the GPU cannot be set up";
    struct state *s = calloc(1, sizeof *s);
    if (s)
        s->pair = calloc((size_t)host->ranks, sizeof(ncclComm_t));
    if (!s || !s->pair) {
        HOST_FAIL(host, "out of host memory");
        free(s);
        return WL_FAIL;
    }
    s->host = host;
    s->cell = *cell;
    enum wl_status status = cuda_open(&s->gpu, &s->comms, host);
    if (status == WL_OK)
        status = host_agree(host, allocate(s, why, sizeof why), why);
    if (status == WL_OK)
        *state = s;
    else
        close_cuda(s);
    return status;
}

static enum wl_status run(void *state, enum pairs_test test, int partner, unsigned times,
                          double *seconds)
{
    const struct state *s = state;
    return gpu_status(&s->gpu, test < PAIRS_ALONE ? own_run(state, test, times, seconds)
                                                  : pair_run(state, test, partner, times, seconds));
}

static void abort_cuda(void *state)
{
    struct state *s = state;
    cuda_abort(&s->gpu, &s->comms);
}

__attribute__((visibility("default"))) extern const struct pairs_backend pairs_backend_v1;
const struct pairs_backend pairs_backend_v1 = {.size = sizeof(struct pairs_backend),
                                               .open = open_cuda,
                                               .close = close_cuda,
                                               .meet = pair_meet,
                                               .run = run,
                                               .abort = abort_cuda};
