/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/cuda/proxy_cuda.h"

#include <stdio.h>
#include <stdlib.h>

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
    const struct proxy_work *w = p->work;
    enum wl_status status = gpu_record_new(&p->gemm_record, why, size);
    if (status == WL_OK)
        status = gpu_record_new(&p->collective_record, why, size);
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

static enum wl_status issue_captured(void *step)
{
    return step_issue_captured(step);
}

/* Run once before, because libraries load kernels and connect peers at first use. */
static enum wl_status make_graph(struct step *p)
{
    enum wl_status status = step_issue(p);
    if (status == WL_OK)
        status = step_finish(p);
    if (status == WL_OK)
        status = gpu_graph_make(&p->state->gpu, issue_captured, p, &p->graph);
    return status == WL_OK ? step_finish(p) : status;
}

/* Runs the largest collective of each kind once, untimed: it shows whether NCCL accepts the config and
 * which algorithm and protocol it runs. The note "ran" in the recording is about the last of them. */
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
    enum wl_status status = gpu_status(&s->gpu, prepare_parts(p));
    if (status == WL_OK)
        *step = p;
    else
        release_step(p);
    return status;
}
