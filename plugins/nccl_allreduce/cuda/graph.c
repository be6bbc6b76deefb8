/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_allreduce/cuda/nccl_cuda.h"

ncclResult_t operation(struct prepared *p, unsigned i)
{
    unsigned slot = i % p->slots;
    return nccl_operation_queue(&p->state->comms, p->comm, &p->what, slot_in(p, slot),
                                slot_out(p, slot));
}

static enum wl_status queue(struct prepared *p, unsigned n)
{
    ncclResult_t e = ncclSuccess;
    for (unsigned i = 0; i < n && e == ncclSuccess; i++)
        e = operation(p, i);
    return comm_try(&p->state->comms, p->comm, e, nccl_operation_name(&p->what));
}

struct queued {
    struct prepared *p;
    unsigned n;
};

static enum wl_status queue_captured(void *what)
{
    const struct queued *q = what;
    return queue(q->p, q->n);
}

static enum wl_status finish(struct prepared *p)
{
    struct state *s = p->state;
    enum wl_status status =
        gpu_try(&s->gpu, cudaEventRecord(s->done, s->gpu.stream), "cudaEventRecord");
    return status == WL_OK ? comm_wait(&s->comms, p->comm, s->done, NULL, NULL) : status;
}

static void graph_free(struct op_graph *o)
{
    if (o->exec)
        cudaGraphExecDestroy(o->exec);
    *o = (struct op_graph){0};
}

/* Captured for n operations, uploaded and replayed once untimed. */
static enum wl_status graph_make(struct prepared *p, struct op_graph *o, unsigned n)
{
    if (o->n == n)
        return WL_OK;
    graph_free(o);
    enum wl_status status =
        gpu_graph_make(&p->state->gpu, queue_captured, &(struct queued){p, n}, &o->exec);
    if (status == WL_OK)
        status = finish(p);
    o->n = status == WL_OK ? n : 0;
    return status;
}

/* Whole graphs of BACK_TO_BACK_MOST operations, and one of the rest. */
static unsigned unit_of(unsigned iters)
{
    return iters < BACK_TO_BACK_MOST ? iters : BACK_TO_BACK_MOST;
}

enum wl_status launch_lead(struct prepared *p, unsigned iters)
{
    struct gpu *g = &p->state->gpu;
    unsigned n = nccl_lead(&p->cell, iters);
    if (p->cell.launch == LAUNCH_GRAPH && n == unit_of(iters))
        return gpu_try(g, cudaGraphLaunch(p->unit.exec, g->stream), "cudaGraphLaunch");
    return queue(p, n);
}

/* How often the slot's turn comes in n operations. */
static unsigned turns(const struct prepared *p, unsigned slot, unsigned n)
{
    return n > slot ? (n - slot + p->slots - 1) / p->slots : 0;
}

unsigned operations_on(const struct prepared *p, unsigned slot)
{
    unsigned n = p->iters, led = turns(p, slot, nccl_lead(&p->cell, n));
    if (p->cell.launch == LAUNCH_STREAM)
        return led + turns(p, slot, n);
    unsigned unit = unit_of(n); /* each graph begins at the first slot */
    return led + n / unit * turns(p, slot, unit) + turns(p, slot, n % unit);
}

enum wl_status graphs_make(struct prepared *p, unsigned iters)
{
    unsigned unit = unit_of(iters), rest = iters % unit;
    p->arena->loaded = NULL; /* the untimed replay writes to it */
    enum wl_status status = graph_make(p, &p->unit, unit);
    return status == WL_OK && rest ? graph_make(p, &p->rest, rest) : status;
}

void graphs_free(struct prepared *p)
{
    graph_free(&p->unit);
    graph_free(&p->rest);
}

enum wl_status launch(struct prepared *p, unsigned iters)
{
    if (p->cell.launch == LAUNCH_STREAM)
        return queue(p, iters);
    struct gpu *g = &p->state->gpu;
    unsigned unit = unit_of(iters);
    cudaError_t e = cudaSuccess;
    for (unsigned i = 0; i < iters / unit && !e; i++)
        e = cudaGraphLaunch(p->unit.exec, g->stream);
    if (!e && iters % unit)
        e = cudaGraphLaunch(p->rest.exec, g->stream);
    return gpu_try(g, e, "cudaGraphLaunch");
}
