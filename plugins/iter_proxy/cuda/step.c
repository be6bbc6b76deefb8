/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/cuda/proxy_cuda.h"

#include <stdio.h>
#include <stdlib.h>

/* The device waits before it aligns the ranks, so that the host, which takes some microseconds a
 * launch, is ahead of it from then on. */
#define DELAY_NS 30000u
#define DELAY_TASK_NS 8000u
#define DELAY_MOST_NS 4000000u

static const int algorithm_of[] = {
    [PROXY_ALGORITHM_AUTO] = NCCL_AUTO, [PROXY_RING] = NCCL_RING,  [PROXY_TREE] = NCCL_TREE,
    [PROXY_RECURSIVE_DOUBLING] = -1,    [PROXY_RABENSEIFNER] = -1, [PROXY_NVLS] = NCCL_NVLS};
static const int protocol_of[] = {[PROXY_PROTOCOL_AUTO] = NCCL_ANY,
                                  [PROXY_LL] = NCCL_LL,
                                  [PROXY_LL128] = NCCL_LL128,
                                  [PROXY_SIMPLE] = NCCL_SIMPLE};

static bool has(const struct proxy_work *w, enum proxy_verb verb)
{
    for (size_t i = 0; i < w->n_tasks; i++)
        if (w->task[i].verb == verb)
            return true;
    return false;
}

void release_step(void *step)
{
    struct step *p = step;
    if (p->graph)
        cudaGraphExecDestroy(p->graph);
    for (size_t i = 0; p->done && i < p->work->n_collectives; i++)
        if (p->done[i])
            cudaEventDestroy(p->done[i]);
    free(p->done);
    operands_drop(p->state, p->operands);
    windows_drop(p->state, p->buffers, p->windows);
    buffers_drop(p->buffers);
    cudaFree(p->gemm_record);
    cudaFree(p->collective_record);
    free(p);
}

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

static enum wl_status make_events(struct step *p, char *why, size_t size)
{
    const size_t n = p->work->n_collectives;
    cudaError_t e = cudaSuccess;
    p->done = calloc(n, sizeof *p->done);
    for (size_t i = 0; p->done && i < n && !e; i++)
        e = cudaEventCreateWithFlags(&p->done[i], cudaEventDisableTiming);
    if (p->done && !e)
        return WL_OK;
    snprintf(why, size, "events: %s", e ? cudaGetErrorString(e) : "out of host memory");
    return WL_FAIL;
}

static enum wl_status take_memory(struct step *p, char *why, size_t size)
{
    struct gpu *g = &p->state->gpu;
    const struct proxy_work *w = p->work;
    enum wl_status status = gpu_record_new(g, &p->gemm_record);
    if (status == WL_OK)
        status = gpu_record_new(g, &p->collective_record);
    if (status != WL_OK)
        snprintf(why, size, "no device memory for the record of a check");
    if (status == WL_OK && has(w, PROXY_COMPUTE))
        status = operands_take(p->state, p->cell, w, &p->operands, why, size);
    for (size_t i = 0; p->operands && i < w->n_compute; i++)
        if (w->compute[i].m)
            p->last = &w->compute[i];
    if (status == WL_OK && has(w, PROXY_COMM))
        status = buffers_take(p->state, w, p->cell->memory, &p->buffers, why, size);
    if (status == WL_OK && has(w, PROXY_WAIT))
        status = make_events(p, why, size);
    return status;
}

static enum wl_status finish(struct step *p)
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

static enum wl_status issue_once(struct step *p)
{
    enum wl_status status = WL_OK;
    for (size_t t = 0; t < p->work->n_tasks && status == WL_OK; t++)
        status = do_task(p, &p->work->task[t]);
    return status;
}

/* One iteration on both streams. A graph must end on the stream where its capture began, so its last
 * task, a JOIN, is then only the half that gpu.stream waits for. */
static enum wl_status issue_captured(struct step *p)
{
    struct state *s = p->state;
    enum wl_status status = follow(s, s->compute, s->gpu.stream, s->communicated);
    for (size_t t = 0; t + 1 < p->work->n_tasks && status == WL_OK; t++)
        status = do_task(p, &p->work->task[t]);
    return status == WL_OK ? follow(s, s->gpu.stream, s->compute, s->computed) : status;
}

static enum wl_status capture(struct step *p, cudaGraph_t *graph)
{
    struct gpu *g = &p->state->gpu;
    enum wl_status status =
        gpu_try(g, cudaStreamBeginCapture(g->stream, cudaStreamCaptureModeThreadLocal),
                "cudaStreamBeginCapture");
    if (status != WL_OK)
        return status;
    status = issue_captured(p);
    cudaError_t e = cudaStreamEndCapture(g->stream, graph);
    return status == WL_OK ? gpu_try(g, e, "cudaStreamEndCapture") : status;
}

/* Run once, because libraries load kernels and connect peers at first use. Then captured, uploaded
 * and replayed once untimed. */
static enum wl_status make_graph(struct step *p)
{
    struct gpu *g = &p->state->gpu;
    cudaGraph_t graph = NULL;
    enum wl_status status = issue_once(p);
    if (status == WL_OK)
        status = finish(p);
    if (status == WL_OK)
        status = capture(p, &graph);
    if (status == WL_OK)
        status = gpu_graph_start(g, graph, &p->graph);
    else if (graph)
        cudaGraphDestroy(graph);
    return status == WL_OK ? finish(p) : status;
}

/* One of each kind, the largest, untimed: does NCCL accept the config, and with what does it run it?
 * "ran" in the recording is of the last one. */
static enum wl_status try_out(struct step *p)
{
    struct state *s = p->state;
    enum wl_status status = WL_OK;
    for (int kind = COLLECTIVE_REDUCESCATTER; kind >= COLLECTIVE_ALLREDUCE && !status; kind--) {
        const struct proxy_collective *largest = NULL;
        for (size_t i = 0; i < p->work->n_collectives; i++) {
            const struct proxy_collective *c = &p->work->collective[i];
            if ((int)c->collective == kind && (!largest || c->elements > largest->elements))
                largest = c;
        }
        if (!largest)
            continue;
        struct nccl_operation o = operation_of(largest);
        status = nccl_operation_try(&s->comms, p->comm, &o, (char *)p->buffers->in + largest->first,
                                    (char *)p->buffers->out + largest->first, s->communicated);
    }
    return status;
}

static enum wl_status prepare_parts(struct step *p)
{
    struct state *s = p->state;
    char why[256] = "";
    struct comm_key key = {algorithm_of[p->cell->algorithm], protocol_of[p->cell->protocol],
                           (int)p->cell->ctas, p->cell->policy, s->host->copy};
    if (key.algorithm < 0) {
        HOST_FAIL(s->host, "NCCL has no such algorithm: ring, tree or nvls");
        return WL_SKIP;
    }
    enum wl_status status = comm_get(&s->comms, key, &p->comm);
    if (status != WL_OK)
        return status;
    comm_note(&s->comms, p->comm);
    status = take_memory(p, why, sizeof why);
    status = host_agree(s->host, status, why);
    if (status == WL_OK && p->buffers && p->cell->memory == PROXY_SYMMETRIC) {
        status = windows_take(s, p->buffers, p->comm, &p->windows, why, sizeof why);
        status = host_agree(s->host, status, why);
    }
    if (status == WL_OK && p->buffers)
        status = try_out(p);
    return status == WL_OK && p->cell->launch == PROXY_GRAPH ? make_graph(p) : status;
}

enum wl_status prepare_step(void *state, const struct proxy_cell *cell,
                            const struct proxy_work *work, void **step)
{
    struct state *s = state;
    struct step *p = calloc(1, sizeof *p);
    if (!p)
        return HOST_FAILED(s->host, "out of host memory");
    *p = (struct step){.state = s, .cell = cell, .work = work};
    enum wl_status status = prepare_parts(p);
    if (status == WL_OK)
        *step = p;
    else
        release_step(p);
    return status;
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
    return gpu_try(&s->gpu, e, "poisoning the outputs");
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
            status = issue_once(p);
    }
    return status;
}

enum wl_status run_step(void *step, unsigned iters, struct wl_sample *out)
{
    struct step *p = step;
    struct state *s = p->state;
    float ms = 0;
    out->start_ns = gpu_now_ns();
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
    out->end_ns = gpu_now_ns();
    out->values[0] = (double)ms * 1e-3 / iters;
    return status == WL_OK ? check(p) : status;
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
    return status;
}
