/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/cuda/proxy_cuda.h"

/* The device waits before it aligns the ranks, so that the host, which takes some microseconds a
 * launch, is ahead of it from then on. */
#define DELAY_NS 30000u
#define DELAY_TASK_NS 8000u
#define DELAY_MOST_NS 4000000u

static enum wl_status queue_collective(struct step *p, unsigned i)
{
    struct state *s = p->state;
    const struct proxy_collective *c = &p->work->collective[i];
    struct nccl_operation o = operation_of(c);
    ncclResult_t e = nccl_operation_queue(&s->comms, p->comm, &o, (char *)p->buffers->in + c->first,
                                          (char *)p->buffers->out + c->first);
    enum wl_status status = comm_try(&s->comms, p->comm, e, nccl_operation_name(&o));
    if (status == WL_OK && p->done)
        status = gpu_try(&s->gpu, cudaEventRecord(p->done[i], s->gpu.stream), "cudaEventRecord");
    return status;
}

enum wl_status step_finish(struct step *p)
{
    struct state *s = p->state;
    enum wl_status status =
        gpu_try(&s->gpu, cudaEventRecord(s->communicated, s->gpu.stream), "cudaEventRecord");
    return status == WL_OK ? comm_wait(&s->comms, p->comm, s->communicated, NULL, NULL) : status;
}

/* `waiter` goes on when all that `stream` holds now is done. */
static enum wl_status follow(struct state *s, cudaStream_t waiter, cudaStream_t stream,
                             cudaEvent_t event)
{
    cudaError_t e = cudaEventRecord(event, stream);
    if (!e)
        e = cudaStreamWaitEvent(waiter, event, 0);
    return gpu_try(&s->gpu, e, "ordering the streams");
}

static enum wl_status join(struct state *s)
{
    enum wl_status status = follow(s, s->gpu.stream, s->compute, s->computed);
    return status == WL_OK ? follow(s, s->compute, s->gpu.stream, s->communicated) : status;
}

static enum wl_status do_task(struct step *p, const struct proxy_task *t)
{
    struct state *s = p->state;
    enum wl_status status = WL_OK;
    switch (t->verb) {
    case PROXY_COMPUTE:
        for (unsigned i = t->first; i < t->first + t->n && status == WL_OK; i++)
            status = compute_queue(s, p->operands, &p->work->compute[i]);
        return status;
    case PROXY_COMM:
        if (t->n)
            status = follow(s, s->gpu.stream, s->compute, s->computed);
        return status == WL_OK ? queue_collective(p, t->first) : status;
    case PROXY_WAIT:
        return gpu_try(&s->gpu, cudaStreamWaitEvent(s->compute, p->done[t->first], 0),
                       "cudaStreamWaitEvent");
    case PROXY_JOIN:
        return join(s);
    }
    return WL_FAIL;
}

enum wl_status step_issue(struct step *p)
{
    enum wl_status status = WL_OK;
    for (size_t t = 0; t < p->work->n_tasks && status == WL_OK; t++)
        status = do_task(p, &p->work->task[t]);
    return status;
}

/* One iteration on both streams. A graph must end on the stream where its capture began, so its last
 * task, a JOIN, is then only the half that gpu.stream waits for. */
enum wl_status step_issue_captured(struct step *p)
{
    struct state *s = p->state;
    enum wl_status status = follow(s, s->compute, s->gpu.stream, s->communicated);
    for (size_t t = 0; t + 1 < p->work->n_tasks && status == WL_OK; t++)
        status = do_task(p, &p->work->task[t]);
    return status == WL_OK ? follow(s, s->gpu.stream, s->compute, s->computed) : status;
}

enum wl_status poison_step(void *step)
{
    struct step *p = step;
    struct state *s = p->state;
    cudaError_t e = p->operands ? operands_poison(s, p->operands) : cudaSuccess;
    if (p->buffers && !e)
        e = cudaMemsetAsync(p->buffers->out, 0xff, p->buffers->bytes, s->gpu.stream);
    if (!e)
        e = cudaStreamSynchronize(s->compute);
    if (!e)
        e = cudaStreamSynchronize(s->gpu.stream);
    return gpu_status(&s->gpu, gpu_try(&s->gpu, e, "poisoning the outputs"));
}

static uint64_t delay_of(const struct step *p)
{
    uint64_t launches = p->graph ? 1 : p->work->n_tasks;
    if (p->operands && !p->graph)
        launches += p->work->n_compute;
    uint64_t ns = DELAY_NS + launches * DELAY_TASK_NS;
    return ns < DELAY_MOST_NS ? ns : DELAY_MOST_NS;
}

/* The device waits, the ranks align, both streams start from the event. */
static enum wl_status start(struct step *p)
{
    struct state *s = p->state;
    enum wl_status status = gpu_try(&s->gpu, gpu_delay(delay_of(p), s->gpu.stream), "delay");
    if (status == WL_OK)
        status = comm_align(&s->comms, p->comm);
    if (status == WL_OK)
        status = gpu_try(&s->gpu, cudaEventRecord(s->gpu.start, s->gpu.stream), "cudaEventRecord");
    if (status == WL_OK)
        status = gpu_try(&s->gpu, cudaStreamWaitEvent(s->compute, s->gpu.start, 0),
                         "cudaStreamWaitEvent");
    return status;
}

/* Buffers are shared by the steps, so results are checked behind the sample. */
static enum wl_status check(struct step *p)
{
    struct state *s = p->state;
    cudaError_t e = p->buffers ? buffers_check(s, p->buffers, p->collective_record) : cudaSuccess;
    if (p->last && !e)
        e = gemm_check(s, p->operands, p->last, p->gemm_record);
    return gpu_try(&s->gpu, e, "checking the results");
}

static enum wl_status issue(struct step *p, unsigned iters)
{
    struct gpu *g = &p->state->gpu;
    enum wl_status status = WL_OK;
    for (unsigned i = 0; i < iters && status == WL_OK; i++) {
        if (p->graph)
            status = gpu_try(g, cudaGraphLaunch(p->graph, g->stream), "cudaGraphLaunch");
        else
            status = step_issue(p);
    }
    return status;
}

enum wl_status run_step(void *step, unsigned iters, struct wl_sample *out)
{
    struct step *p = step;
    struct state *s = p->state;
    float ms = 0;
    out->start_ns = now_ns();
    enum wl_status status = start(p);
    if (status == WL_OK)
        status = issue(p, iters);
    if (status == WL_OK)
        status = gpu_try(&s->gpu, cudaEventRecord(s->gpu.stop, s->gpu.stream), "cudaEventRecord");
    if (status == WL_OK)
        status = comm_wait(&s->comms, p->comm, s->gpu.stop, NULL, NULL);
    if (status == WL_OK)
        status = gpu_try(&s->gpu, cudaEventElapsedTime(&ms, s->gpu.start, s->gpu.stop),
                         "cudaEventElapsedTime");
    out->end_ns = now_ns();
    out->values[0] = (double)ms * 1e-3 / iters;
    return gpu_status(&s->gpu, status == WL_OK ? check(p) : status);
}

enum wl_status verify_step(void *step)
{
    struct step *p = step;
    struct state *s = p->state;
    enum wl_status status = WL_OK;
    if (p->buffers)
        status = gpu_record_read(&s->gpu, p->collective_record, s->gpu.stream,
                                 "the output of a collective");
    if (status == WL_OK && p->last)
        status = gpu_record_read(&s->gpu, p->gemm_record, s->compute,
                                 "the last GEMM, at the places looked at (bits of floats)");
    return gpu_status(&s->gpu, status);
}
