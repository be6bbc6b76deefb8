/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_allreduce/cuda/nccl_cuda.h"

/* The device waits so long before it aligns the ranks, so that the host is ahead of it. */
#define DELAY_NS 30000
/* From the naming of an instant to that instant: longer than a broadcast on one node. */
#define START_IN_NS 60000

/* Back to back: the device waits, aligns the ranks, runs some untimed, then those between two
 * events. */
static enum wl_status steady(struct prepared *p, unsigned iters, double *seconds)
{
    struct state *s = p->state;
    struct gpu *g = &s->gpu;
    bool burns = p->cell.contention != BURN_NONE;
    float ms = 0;
    enum wl_status status = gpu_try(g, gpu_delay(DELAY_NS, g->stream), "delay");
    if (status == WL_OK)
        status = comm_align(&s->comms, p->comm);
    if (status == WL_OK)
        status = launch_lead(p, iters);
    if (status == WL_OK)
        status = gpu_try(g, cudaEventRecord(s->gpu.start, g->stream), "cudaEventRecord");
    if (status == WL_OK)
        status = launch(p, iters);
    if (status == WL_OK)
        status = gpu_try(g, cudaEventRecord(s->gpu.stop, g->stream), "cudaEventRecord");
    if (status == WL_OK)
        status = comm_wait(&s->comms, p->comm, s->gpu.stop, burns ? burn_feed : NULL, &s->burn);
    if (status == WL_OK)
        status = gpu_try(g, cudaEventElapsedTime(&ms, s->gpu.start, s->gpu.stop),
                         "cudaEventElapsedTime");
    *seconds = (double)ms * 1e-3 / iters;
    return status;
}

/* Alone: an idle device, an instant that rank 0 names, then the host's clock. */
static enum wl_status isolated(struct prepared *p, struct wl_sample *out)
{
    struct state *s = p->state;
    struct gpu *g = &s->gpu;
    bool burns = p->cell.contention != BURN_NONE;
    cudaError_t e = cudaStreamSynchronize(g->stream);
    if (e)
        return gpu_try(g, e, "cudaStreamSynchronize");
    s->host->barrier(s->host->ctx);
    uint64_t start = now_ns() + START_IN_NS;
    s->host->bcast(s->host->ctx, &start, sizeof start, 0);
    while (now_ns() < start)
        ;
    out->start_ns = now_ns();
    enum wl_status status = launch(p, 1);
    if (status == WL_OK)
        status = gpu_try(g, cudaEventRecord(s->done, g->stream), "cudaEventRecord");
    if (status == WL_OK)
        status = comm_wait(&s->comms, p->comm, s->done, burns ? burn_feed : NULL, &s->burn);
    out->end_ns = now_ns();
    out->values[VALUE_TIME] = (double)(out->end_ns - out->start_ns) * 1e-9;
    return status;
}

static enum wl_status measure(struct prepared *p, unsigned iters, struct wl_sample *out)
{
    if (p->cell.metric == METRIC_L_ISO)
        return isolated(p, out);
    out->start_ns = now_ns();
    enum wl_status status = steady(p, iters, &out->values[VALUE_TIME]);
    out->end_ns = now_ns();
    return status;
}

static enum wl_status measure_beside(struct prepared *p, unsigned iters, struct wl_sample *out)
{
    struct burn *b = &p->state->burn;
    enum wl_status status = burn_start(b, (enum burn_level)p->cell.contention);
    if (status == WL_OK)
        status = measure(p, iters, out);
    enum wl_status stopped = burn_stop(b);
    out->values[VALUE_GEMM] = b->gemm.rate;
    out->values[VALUE_TRAFFIC] = b->traffic.rate;
    return status == WL_OK ? stopped : status;
}

/* What slot `slot` holds after so many operations, checked behind them; false: not exact. */
static bool check_slot(struct prepared *p, unsigned slot, uint64_t operations, cudaError_t *error)
{
    struct gpu *g = &p->state->gpu;
    return nccl_operation_check(g, &p->what, slot_out(p, slot), g->host->seed + slot, operations,
                                p->record, error);
}

/* Every buffer that the sample used. Whether a result is exact does not depend on the rank. */
static enum wl_status check(struct prepared *p)
{
    struct state *s = p->state;
    cudaError_t e = gpu_record_clear(p->record, s->gpu.stream);
    p->unpredictable = false;
    for (unsigned slot = 0; slot < p->slots && slot < p->iters && !e && !p->unpredictable; slot++)
        p->unpredictable = !check_slot(p, slot, operations_on(p, slot), &e);
    return gpu_try(&s->gpu, e, "checking the result");
}

static enum wl_status take(struct prepared *p, unsigned iters, struct wl_sample *out)
{
    enum wl_status status = WL_OK;
    if (p->cell.launch == LAUNCH_GRAPH && iters != p->iters)
        status = graphs_make(p, iters);
    if (status == WL_OK)
        status = arena_load(p);
    if (status == WL_OK && p->cell.buffers == BUFFERS_COLD)
        status = gpu_flush(&p->state->gpu);
    if (status != WL_OK)
        return status;
    p->iters = iters;
    out->values[VALUE_GEMM] = out->values[VALUE_TRAFFIC] = 0;
    status =
        p->cell.contention == BURN_NONE ? measure(p, iters, out) : measure_beside(p, iters, out);
    return status == WL_OK ? check(p) : status;
}

enum wl_status sample_cuda(void *prepared, unsigned iters, struct wl_sample *out)
{
    struct prepared *p = prepared;
    return gpu_status(&p->state->gpu, take(p, iters, out));
}

/* Where repeating in place is not exact: once more, on fresh data, in the same buffers. */
static enum wl_status check_fresh(struct prepared *p)
{
    struct state *s = p->state;
    cudaError_t e = cudaSuccess;
    enum wl_status status = arena_load(p);
    if (status == WL_OK)
        status = comm_try(&s->comms, p->comm, operation(p, 0), nccl_operation_name(&p->what));
    if (status == WL_OK)
        status = gpu_try(&s->gpu, cudaEventRecord(s->done, s->gpu.stream), "cudaEventRecord");
    if (status == WL_OK)
        status = comm_wait(&s->comms, p->comm, s->done, NULL, NULL);
    if (status == WL_OK)
        check_slot(p, 0, 1, &e);
    return status == WL_OK ? gpu_try(&s->gpu, e, "checking the result") : status;
}

enum wl_status verify_cuda(void *prepared)
{
    struct prepared *p = prepared;
    struct gpu *g = &p->state->gpu;
    enum wl_status status = p->unpredictable ? check_fresh(p) : WL_OK;
    const char *what = p->cell.collective ? "the received buffer" : "the all-reduced buffer";
    if (status == WL_OK)
        status = gpu_record_read(g, p->record, g->stream, what);
    return gpu_status(g, status);
}
