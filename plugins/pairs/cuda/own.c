/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs/cuda/pairs_cuda.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 8e-3 /* of a GEMM in bf16 */
/* Of 20 to 40 us on an H200, in one test. Another process on a GPU works in bursts of some milliseconds;
 * a test that is shorter meets all of a burst or nothing of it. */
#define PIECES 512

/* Pieces of a lane of the burn, which are the same on every GPU. */
static enum wl_status run_lane(struct state *s, struct burn_lane *lane, unsigned times,
                               double *seconds)
{
    enum wl_status status = burn_alone(&s->burn, lane, BURN_AHEAD); /* wakes the GPU up */
    if (status == WL_OK)
        status = burn_alone(&s->burn, lane, PIECES * times);
    *seconds = lane->rate > 0 ? lane->piece / lane->rate : NAN;
    return status;
}

/* cuBLAS stores matrices by columns, the check reads them by rows: it sees transposes. */
static enum wl_status check_gemm(struct state *s)
{
    const struct burn *b = &s->burn;
    const struct gpu_gemm g = {.a = b->b,
                               .b = b->a,
                               .c = b->c,
                               .m = BURN_GEMM_N,
                               .n = BURN_GEMM_N,
                               .k = BURN_GEMM_N,
                               .element_B = 2};
    cudaError_t e = gpu_record_clear(s->wrong, s->gpu.stream);
    if (!e)
        e = gpu_gemm_check(&g, TOLERANCE, s->wrong, s->gpu.stream);
    enum wl_status status = gpu_try(&s->gpu, e, "checking the GEMM");
    return status == WL_OK ? gpu_record_read(&s->gpu, s->wrong, s->gpu.stream, "the GEMM") : status;
}

static cudaError_t copy(struct state *s, enum pairs_test test)
{
    size_t bytes = s->cell.size;
    return test == PAIRS_TO_DEVICE
               ? cudaMemcpyAsync(s->receive, s->mine, bytes, cudaMemcpyHostToDevice, s->gpu.stream)
               : cudaMemcpyAsync(s->back, s->send, bytes, cudaMemcpyDeviceToHost, s->gpu.stream);
}

static enum wl_status check_copy(struct state *s, enum pairs_test test)
{
    struct gpu *g = &s->gpu;
    if (test == PAIRS_FROM_DEVICE) {
        if (memcmp(s->back, s->mine, s->cell.size) == 0)
            return WL_OK;
        return HOST_FAILED(s->host, "GPU %d: a copy to the host is wrong", g->device);
    }
    cudaError_t e = gpu_record_clear(s->wrong, g->stream);
    if (!e)
        e = gpu_check(s->receive, s->cell.size / 4, 4, words_of(s->host->rank, -1), 0, s->wrong,
                      g->stream);
    enum wl_status status = gpu_try(g, e, "checking the copy");
    return status == WL_OK ? gpu_record_read(g, s->wrong, g->stream, "a copy from the host")
                           : status;
}

static enum wl_status run_copies(struct state *s, enum pairs_test test, unsigned times,
                                 double *seconds)
{
    cudaError_t e = copy(s, test);
    if (!e)
        e = cudaEventRecord(s->gpu.start, s->gpu.stream);
    for (unsigned i = 0; i < times && !e; i++)
        e = copy(s, test);
    if (!e)
        e = cudaEventRecord(s->gpu.stop, s->gpu.stream);
    if (!e)
        e = cudaStreamSynchronize(s->gpu.stream);
    enum wl_status status = gpu_try(&s->gpu, e, "cudaMemcpyAsync");
    if (status == WL_OK)
        status = elapsed(s, times, seconds);
    return status == WL_OK ? check_copy(s, test) : status;
}

enum wl_status own_run(struct state *s, enum pairs_test test, unsigned times, double *seconds)
{
    if (test == PAIRS_MEMORY)
        return run_lane(s, &s->burn.traffic, times, seconds);
    if (test != PAIRS_GEMM)
        return run_copies(s, test, times, seconds);
    enum wl_status status = run_lane(s, &s->burn.gemm, times, seconds);
    return status == WL_OK ? check_gemm(s) : status;
}
