/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA side of nccl_allreduce.
 */
#include "common/cuda_collective.h"
#include "common/cuda_comm.h"
#include "common/host.h"
#include "nccl_allreduce/nccl_allreduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Device memory that the cells of a group share: one of them is measured at a time. */
struct arena {
    struct arena *next;
    int users;
    void *base;
    size_t bytes;
    bool from_nccl;     /* by ncclMemAlloc, which nccl-tests uses: NCCL registers it in graphs */
    const void *loaded; /* the prepared cell whose inputs it holds */
};

struct state {
    const struct wl_host *host;
    struct gpu gpu;
    struct comms comms;
    struct arena *arenas;
    void *flushed; /* FLUSH_L2 times the cache; NULL: no cell has needed it */
    cudaEvent_t done;
};

/* `n` operations, launched as one. */
struct op_graph {
    unsigned n;
    cudaGraphExec_t exec;
};

struct prepared {
    struct state *state;
    struct nccl_cell cell;
    struct comm *comm;
    struct arena *arena;
    struct nccl_operation what;
    size_t slot_B;
    unsigned slots; /* buffers in rotation */
    struct op_graph unit, rest;
    unsigned iters;              /* of the last sample */
    struct gpu_mismatch *record; /* of the last sample's result */
    bool unpredictable;          /* it was not exact: verify() does one more operation */
};

/* ==== buffers ==== */

#define LEAST_B ((size_t)64 << 20) /* so that the small sizes of a sweep share one */
#define POISON 0xff                /* NaN, or -1: no right result holds it */
#define FLUSH_L2 4                 /* times the cache: what pushes all else out of it */

static char *slot_in(const struct prepared *p, unsigned slot)
{
    return (char *)p->arena->base + slot * p->slot_B;
}

static char *slot_out(const struct prepared *p, unsigned slot)
{
    return slot_in(p, p->cell.in_place ? slot : slot + p->slots);
}

/* Those without users only when memory runs out: what a graph has shown to other GPUs is best not
 * freed under them. */
static void arenas_free(struct state *s, bool all)
{
    for (struct arena **at = &s->arenas, *a; (a = *at);) {
        if (a->users && !all) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        (void)(a->from_nccl ? (int)ncclMemFree(a->base) : (int)cudaFree(a->base));
        free(a);
    }
}

/* False: `why` says why. */
static bool arena_alloc(struct state *s, struct arena *a, char *why, size_t n)
{
    size_t free_B = 0, total_B = 0;
    if (!a->from_nccl)
        return gpu_alloc(&a->base, a->bytes, why, n) == cudaSuccess;
    ncclResult_t e = ncclMemAlloc(&a->base, a->bytes);
    if (comm_judge(&s->comms, NULL, e, "ncclMemAlloc", why, n) == WL_OK)
        return true;
    cudaGetLastError();
    if (cudaMemGetInfo(&free_B, &total_B) == cudaSuccess && free_B < a->bytes)
        gpu_say_memory(a->bytes, why, n);
    return false;
}

/* Not collective. WL_SKIP: out of device memory, `why` says so. */
static enum wl_status arena_take(struct state *s, size_t bytes, bool from_nccl, struct arena **out,
                                 char *why, size_t n)
{
    struct arena *a = s->arenas;
    while (a && (a->bytes < bytes || a->from_nccl != from_nccl))
        a = a->next;
    if (!a) {
        if (!(a = calloc(1, sizeof *a)))
            return HOST_WHY(WL_FAIL, why, n, "out of host memory");
        a->bytes = bytes < LEAST_B ? LEAST_B : bytes;
        a->from_nccl = from_nccl;
        bool good = arena_alloc(s, a, why, n);
        if (!good) {
            arenas_free(s, false);
            good = arena_alloc(s, a, why, n);
        }
        if (!good) {
            free(a);
            return WL_SKIP;
        }
        a->next = s->arenas;
        s->arenas = a;
    }
    a->users++;
    *out = a;
    return WL_OK;
}

/* Queues the writing of the inputs, and of wrong values into the outputs. In place, an input lies in its
 * output: the other inputs of an all-reduce leave nothing of it. */
static enum wl_status arena_load(struct prepared *p)
{
    struct gpu *g = &p->state->gpu;
    bool intact = p->arena->loaded == p && !p->cell.in_place;
    p->arena->loaded = p;
    cudaError_t e = cudaSuccess;
    if (!p->cell.in_place || p->cell.collective != COLLECTIVE_ALLREDUCE)
        e = cudaMemsetAsync(slot_out(p, 0), POISON, p->slots * p->slot_B, g->stream);
    for (unsigned slot = 0; slot < p->slots && !e && !intact; slot++)
        e = nccl_operation_fill(g, &p->what, slot_in(p, slot), g->host->seed + slot);
    return gpu_try(g, e, "filling the buffers");
}

/* ==== operations ==== */

/* Queues operation `i` of a sample. */
static ncclResult_t operation(struct prepared *p, unsigned i)
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

static void graph_free(struct op_graph *o)
{
    if (o->exec)
        cudaGraphExecDestroy(o->exec);
    *o = (struct op_graph){0};
}

/* Captured for n operations, uploaded and replayed once untimed. */
static enum wl_status graph_make(struct prepared *p, struct op_graph *o, unsigned n)
{
    struct gpu *g = &p->state->gpu;
    cudaGraph_t graph = NULL;
    if (o->n == n)
        return WL_OK;
    graph_free(o);
    CHECK(gpu_try(g, cudaStreamBeginCapture(g->stream, cudaStreamCaptureModeThreadLocal),
                  "cudaStreamBeginCapture"));
    enum wl_status status = queue(p, n);
    cudaError_t ended = cudaStreamEndCapture(g->stream, &graph);
    TRY(status, gpu_try(g, ended, "cudaStreamEndCapture"));
    TRY(status,
        gpu_try(g, cudaGraphInstantiateWithFlags(&o->exec, graph, 0), "cudaGraphInstantiate"));
    if (graph)
        cudaGraphDestroy(graph);
    CHECK(status);
    CHECK(gpu_try(g, cudaGraphUpload(o->exec, g->stream), "cudaGraphUpload"));
    CHECK(gpu_try(g, cudaGraphLaunch(o->exec, g->stream), "cudaGraphLaunch"));
    CHECK(comm_finish(&p->state->comms, p->comm, p->state->done));
    o->n = n;
    return WL_OK;
}

/* Whole graphs of BACK_TO_BACK_MOST operations, and one of the rest. */
static unsigned unit_of(unsigned iters)
{
    return iters < BACK_TO_BACK_MOST ? iters : BACK_TO_BACK_MOST;
}

/* Queues the untimed operations before a sample of `iters`: nccl_lead(). */
static enum wl_status launch_lead(struct prepared *p, unsigned iters)
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

/* How many operations of the last sample used this slot. */
static unsigned operations_on(const struct prepared *p, unsigned slot)
{
    unsigned n = p->iters, led = turns(p, slot, nccl_lead(&p->cell, n));
    if (p->cell.launch == LAUNCH_STREAM)
        return led + turns(p, slot, n);
    unsigned unit = unit_of(n); /* each graph begins at the first slot */
    return led + n / unit * turns(p, slot, unit) + turns(p, slot, n % unit);
}

/* Queues `iters` operations as the cell says. */
static enum wl_status launch(struct prepared *p, unsigned iters)
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

/* ==== measuring ==== */

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
    float ms = 0;
    CHECK(gpu_try(g, gpu_delay(DELAY_NS, g->stream), "delay"));
    CHECK(comm_align(&s->comms, p->comm));
    CHECK(launch_lead(p, iters));
    CHECK(gpu_try(g, cudaEventRecord(g->start, g->stream), "cudaEventRecord"));
    CHECK(launch(p, iters));
    CHECK(gpu_try(g, cudaEventRecord(g->stop, g->stream), "cudaEventRecord"));
    CHECK(comm_wait(&s->comms, p->comm, g->stop));
    CHECK(gpu_try(g, cudaEventElapsedTime(&ms, g->start, g->stop), "cudaEventElapsedTime"));
    *seconds = (double)ms * 1e-3 / iters;
    return WL_OK;
}

/* Alone: an idle device, an instant that rank 0 names, then the host's clock. */
static enum wl_status isolated(struct prepared *p, struct wl_sample *out)
{
    struct state *s = p->state;
    struct gpu *g = &s->gpu;
    CHECK(gpu_try(g, cudaStreamSynchronize(g->stream), "cudaStreamSynchronize"));
    s->host->barrier(s->host->ctx);
    uint64_t start = now_ns() + START_IN_NS;
    s->host->bcast(s->host->ctx, &start, sizeof start, 0);
    while (now_ns() < start)
        ;
    out->start_ns = now_ns();
    CHECK(launch(p, 1));
    CHECK(gpu_try(g, cudaEventRecord(s->done, g->stream), "cudaEventRecord"));
    CHECK(comm_wait(&s->comms, p->comm, s->done));
    out->end_ns = now_ns();
    out->values[0] = (double)(out->end_ns - out->start_ns) * 1e-9;
    return WL_OK;
}

static enum wl_status measure(struct prepared *p, unsigned iters, struct wl_sample *out)
{
    if (p->cell.metric == METRIC_L_ISO)
        return isolated(p, out);
    out->start_ns = now_ns();
    enum wl_status status = steady(p, iters, &out->values[0]);
    out->end_ns = now_ns();
    return status;
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
    if (p->cell.launch == LAUNCH_GRAPH && iters != p->iters) {
        unsigned unit = unit_of(iters), rest = iters % unit;
        p->arena->loaded = NULL; /* the untimed replay writes to it */
        CHECK(graph_make(p, &p->unit, unit));
        CHECK(rest ? graph_make(p, &p->rest, rest) : WL_OK);
    }
    CHECK(arena_load(p));
    if (p->cell.buffers == BUFFERS_COLD) {
        struct gpu *g = &p->state->gpu;
        CHECK(gpu_try(g, cudaMemsetAsync(p->state->flushed, 0x5a, FLUSH_L2 * g->l2_B, g->stream),
                      "cudaMemsetAsync"));
    }
    p->iters = iters;
    CHECK(measure(p, iters, out));
    return check(p);
}

static enum wl_status sample_cuda(void *prepared, unsigned iters, struct wl_sample *out)
{
    struct prepared *p = prepared;
    return gpu_status(&p->state->gpu, take(p, iters, out));
}

/* Where repeating in place is not exact: once more, on fresh data, in the same buffers. */
static enum wl_status check_fresh(struct prepared *p)
{
    struct state *s = p->state;
    cudaError_t e = cudaSuccess;
    CHECK(arena_load(p));
    CHECK(comm_try(&s->comms, p->comm, operation(p, 0), nccl_operation_name(&p->what)));
    CHECK(comm_finish(&s->comms, p->comm, s->done));
    check_slot(p, 0, 1, &e);
    return gpu_try(&s->gpu, e, "checking the result");
}

static enum wl_status verify_cuda(void *prepared)
{
    struct prepared *p = prepared;
    struct gpu *g = &p->state->gpu;
    enum wl_status status = p->unpredictable ? check_fresh(p) : WL_OK;
    const char *what = p->cell.collective ? "the received buffer" : "the all-reduced buffer";
    TRY(status, gpu_record_read(g, p->record, g->stream, what));
    return gpu_status(g, status);
}

/* ==== preparing ==== */

#define ALIGN_B 256

static void release_cuda(void *prepared)
{
    struct prepared *p = prepared;
    graph_free(&p->unit);
    graph_free(&p->rest);
    cudaFree(p->record);
    if (p->arena) {
        p->arena->users--;
        if (p->arena->loaded == p)
            p->arena->loaded = NULL;
    }
    free(p);
}

static unsigned slots_for(const struct state *s, const struct nccl_cell *c, size_t slot_B)
{
    if (c->buffers == BUFFERS_HOT || c->metric == METRIC_L_ISO)
        return 1;
    size_t slots = 4 * s->gpu.l2_B / slot_B + 1;
    return slots > BACK_TO_BACK_MOST ? BACK_TO_BACK_MOST : (unsigned)slots;
}

/* Buffers: what one rank may fail at and another not. */
static enum wl_status take_buffers(struct prepared *p, char *why, size_t n)
{
    struct state *s = p->state;
    const struct nccl_cell *c = &p->cell;
    p->slot_B = (c->size + ALIGN_B - 1) / ALIGN_B * ALIGN_B;
    p->what = (struct nccl_operation){.collective = (enum collective)c->collective,
                                      .type = (enum payload_type)c->dtype,
                                      .count = c->size / payload_dtypes[c->dtype].size_B,
                                      .in_place = c->in_place};
    p->slots = slots_for(s, c, p->slot_B);
    if (gpu_record_new(&p->record, why, n) != WL_OK)
        return WL_FAIL;
    if (c->buffers == BUFFERS_COLD && !s->flushed &&
        gpu_alloc(&s->flushed, FLUSH_L2 * s->gpu.l2_B, why, n) != cudaSuccess)
        return WL_SKIP;
    return arena_take(s, (c->in_place ? 1 : 2) * p->slots * p->slot_B, c->memory, &p->arena, why,
                      n);
}

static enum wl_status prepare_steps(struct prepared *p)
{
    struct state *s = p->state;
    char why[256] = "";
    struct comm_key key = {p->cell.algorithm, p->cell.protocol, (int)p->cell.ctas, s->host->copy};
    CHECK(comms_pretend(&s->comms, (int)p->cell.hosts));
    CHECK(comm_get(&s->comms, key, &p->comm));
    comm_note(&s->comms, p->comm);
    enum wl_status status = take_buffers(p, why, sizeof why);
    CHECK(host_agree(s->host, status, why));
    status = arena_load(p);
    CHECK(host_agree(s->host, status, "the buffers could not be filled"));
    return nccl_operation_try(&s->comms, p->comm, &p->what, slot_in(p, 0), slot_out(p, 0), s->done);
}

static enum wl_status prepare_cuda(void *self, const void *cell, void **prepared)
{
    struct state *s = self;
    struct prepared *p = calloc(1, sizeof *p);
    if (!p)
        return HOST_FAILED(s->host, "out of host memory");
    p->state = s;
    p->cell = *(const struct nccl_cell *)cell;
    enum wl_status status = gpu_status(&s->gpu, prepare_steps(p));
    if (status == WL_OK)
        *prepared = p;
    else
        release_cuda(p);
    return status;
}

/* ==== once a process ==== */

static void close_cuda(void *self)
{
    struct state *s = self;
    comms_close(&s->comms);
    arenas_free(s, true);
    cudaFree(s->flushed);
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
    TRY(status,
        gpu_try(&s->gpu, cudaEventCreateWithFlags(&s->done, cudaEventDisableTiming), "setting up"));
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
