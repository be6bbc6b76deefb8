/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/cuda/proxy_cuda.h"

#include <stdio.h>
#include <stdlib.h>

/* The device waits before it aligns the ranks, so that the host, which takes some microseconds a
 * launch, is ahead of it from then on. */
#define DELAY_NS 30000u
#define DELAY_TASK_NS 8000u
#define DELAY_MOST_NS 500000u

static const int algorithm_of[] = {
    [PROXY_ALGORITHM_AUTO] = NCCL_AUTO, [PROXY_RING] = NCCL_RING,  [PROXY_TREE] = NCCL_TREE,
    [PROXY_RECURSIVE_DOUBLING] = -1,    [PROXY_RABENSEIFNER] = -1, [PROXY_NVLS] = NCCL_NVLS};
static const int protocol_of[] = {[PROXY_PROTOCOL_AUTO] = NCCL_ANY,
                                  [PROXY_LL] = NCCL_LL,
                                  [PROXY_LL128] = NCCL_LL128,
                                  [PROXY_SIMPLE] = NCCL_SIMPLE};

static const struct proxy_task *find(const struct proxy_schedule *schedule, enum proxy_verb verb)
{
    const struct proxy_task *found = NULL;
    for (size_t i = 0; i < schedule->n; i++)
        if (schedule->task[i].verb == verb)
            found = &schedule->task[i];
    return found; /* the last */
}

void release_step(void *step)
{
    struct step *p = step;
    operands_drop(p->state, p->operands);
    windows_drop(p->state, p->gradient, p->windows);
    gradient_drop(p->state, p->gradient);
    cudaFree(p->gemm_record);
    cudaFree(p->bucket_record);
    free(p);
}

static char *bucket_at(const struct step *p, void *base, unsigned b)
{
    return (char *)base + proxy_bucket(p->cell, b) * sizeof(float);
}

static enum wl_status queue_bucket(struct step *p, unsigned b)
{
    struct comms *c = &p->state->comms;
    struct nccl_operation o = bucket_operation(p->cell, b);
    ncclResult_t e = nccl_operation_queue(c, p->comm, &o, bucket_at(p, p->gradient->in, b),
                                          bucket_at(p, p->gradient->out, b));
    return comm_try(c, p->comm, e, nccl_operation_name(&o));
}

static enum wl_status take_memory(struct step *p, char *why, size_t size)
{
    struct gpu *g = &p->state->gpu;
    const struct proxy_task *compute = find(p->schedule, PROXY_COMPUTE);
    enum wl_status status = gpu_record_new(g, &p->gemm_record);
    if (status == WL_OK)
        status = gpu_record_new(g, &p->bucket_record);
    if (status != WL_OK)
        snprintf(why, size, "no device memory for the record of a check");
    if (status == WL_OK && compute) {
        p->last_gemm = (int)(compute->first + compute->n) - 1;
        status = operands_take(p->state, (size_t)p->cell->gemm, p->cell->precision, &p->operands,
                               why, size);
    }
    if (status == WL_OK && find(p->schedule, PROXY_COMM))
        status = gradient_take(p->state, p->cell, &p->gradient, why, size);
    return status;
}

/* One bucket, untimed: does NCCL accept the config, and with what does it run it? */
static enum wl_status try_out(struct step *p)
{
    struct state *s = p->state;
    struct nccl_operation o = bucket_operation(p->cell, 0);
    return nccl_operation_try(&s->comms, p->comm, &o, p->gradient->in, p->gradient->out,
                              s->communicated);
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
    if (status == WL_OK && p->gradient && p->cell->memory == PROXY_SYMMETRIC) {
        status = windows_take(s, p->gradient, p->comm, &p->windows, why, sizeof why);
        status = host_agree(s->host, status, why);
    }
    return status == WL_OK && p->gradient ? try_out(p) : status;
}

enum wl_status prepare_step(void *state, const struct proxy_cell *cell,
                            const struct proxy_schedule *schedule, void **step)
{
    struct state *s = state;
    struct step *p = calloc(1, sizeof *p);
    if (!p) {
        HOST_FAIL(s->host, "out of host memory");
        return WL_FAIL;
    }
    *p = (struct step){.state = s, .cell = cell, .schedule = schedule};
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
    cudaError_t e = cudaSuccess;
    if (p->operands) {
        size_t element_B = p->operands->precision == PROXY_BF16 ? 2 : 4;
        e = cudaMemsetAsync(p->operands->c, 0xff, p->operands->n * p->operands->n * element_B,
                            s->compute);
    }
    if (p->gradient && !e)
        e = cudaMemsetAsync(p->gradient->out, 0xff, p->gradient->bytes, s->gpu.stream);
    if (!e)
        e = cudaStreamSynchronize(s->compute);
    if (!e)
        e = cudaStreamSynchronize(s->gpu.stream);
    return gpu_try(&s->gpu, e, "poisoning the outputs");
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
            status = gemm_queue(s, p->operands, (int)i, (int)p->cell->gemms);
        return status;
    case PROXY_COMM:
        if (t->n)
            status = follow(s, s->gpu.stream, s->compute, s->computed);
        return status == WL_OK ? queue_bucket(p, t->first) : status;
    case PROXY_JOIN:
        return join(s);
    }
    return WL_FAIL;
}

static uint64_t delay_of(const struct step *p)
{
    uint64_t launches = p->schedule->n + (p->operands ? (uint64_t)p->cell->gemms : 0);
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

static cudaError_t check_buckets(struct step *p)
{
    struct gpu *g = &p->state->gpu;
    cudaError_t e = gpu_record_clear(p->bucket_record, g->stream);
    for (unsigned b = 0; b < (unsigned)p->cell->buckets && !e; b++) {
        struct nccl_operation o = bucket_operation(p->cell, b);
        nccl_operation_check(g, &o, bucket_at(p, p->gradient->out, b),
                             g->host->seed + proxy_bucket(p->cell, b), 1, p->bucket_record, &e);
    }
    return e;
}

/* Buffers are shared by the steps, so results are checked behind the sample. */
static enum wl_status check(struct step *p)
{
    struct state *s = p->state;
    cudaError_t e = p->gradient ? check_buckets(p) : cudaSuccess;
    if (p->operands && !e)
        e = gemm_check(s, p->operands, p->last_gemm, (int)p->cell->gemms, p->gemm_record);
    return gpu_try(&s->gpu, e, "checking the results");
}

static enum wl_status issue(struct step *p, unsigned iters)
{
    enum wl_status status = WL_OK;
    for (unsigned i = 0; i < iters && status == WL_OK; i++)
        for (size_t t = 0; t < p->schedule->n && status == WL_OK; t++)
            status = do_task(p, &p->schedule->task[t]);
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
    if (p->gradient)
        status = gpu_record_read(&s->gpu, p->bucket_record, s->gpu.stream, "the reduced gradient");
    if (status == WL_OK && p->operands)
        status = gpu_record_read(&s->gpu, p->gemm_record, s->compute,
                                 "the last GEMM, at the places looked at (bits of floats)");
    return status;
}
