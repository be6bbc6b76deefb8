/* SPDX-License-Identifier: Apache-2.0
 *
 * mpi_allreduce: an all-reduce of host memory. `algorithm` compares MPI_Allreduce with algorithms
 * made of MPI point to point. `collective` measures MPI's other collectives instead.
 *
 *   metric = T_ss   steady state: 16 operations or more back to back, time of one
 *   metric = L_iso  isolated latency: one operation from a start that the ranks share,
 *                   max(end) - min(start) over the ranks
 *
 * Untimed before each sample, the slots that the sample before it used are made ready again: inputs
 * of operations in place are written anew, outputs are poisoned. Those are the slots that were used
 * last, so a cold one is not warmed just before its turn. What repeated reductions in place leave
 * behind, and why it can be checked exactly, is told in payload.h.
 *
 * There is no abort(): MPI has no means to end a collective that hangs; the runner's deadline does.
 */
#include "common/clock.h"
#include "common/host.h"
#include "common/mpi_calls.h"
#include "mpi_allreduce/cell.h"

#include <stdio.h>
#include <stdlib.h>

struct self {
    const struct wl_host *host;
    MPI_Comm comm; /* of this plugin alone */
};

struct prepared {
    struct self *self;
    struct cell cell;
    struct payload payload;
    struct slots slots;
    struct mpi_call call;
    size_t first_used; /* slots.at before the last sample */
    unsigned used;     /* iterations of the last sample; 0 before the first */
};

static const MPI_Datatype mpi_types[] = {[PAYLOAD_FP32] = MPI_FLOAT,
                                         [PAYLOAD_FP64] = MPI_DOUBLE,
                                         [PAYLOAD_INT32] = MPI_INT32_T,
                                         [PAYLOAD_INT64] = MPI_INT64_T,
                                         [PAYLOAD_UINT8] = MPI_UINT8_T};
static const MPI_Op mpi_ops[] = {[PAYLOAD_SUM] = MPI_SUM,
                                 [PAYLOAD_PROD] = MPI_PROD,
                                 [PAYLOAD_MAX] = MPI_MAX,
                                 [PAYLOAD_MIN] = MPI_MIN};

static const struct wl_metric metrics[] = {{"time", "s", "one operation", WL_MAX}, {0}};

static enum wl_status open_plugin(void **self, const struct wl_host *host)
{
    struct self *s = calloc(1, sizeof *s);
    if (!s)
        return HOST_FAILED(host, "out of memory");
    s->host = host;
    enum wl_status status = mpi_try(host, mpi_dup(MPI_COMM_WORLD, &s->comm), "MPI_Comm_dup");
    if (status == WL_OK)
        *self = s;
    else
        free(s);
    return status;
}

static void close_plugin(void *self)
{
    struct self *s = self;
    MPI_Comm_free(&s->comm);
    free(s);
}

static struct collective_part part(const struct prepared *p, int i)
{
    return collective_part((enum collective)p->cell.collective, p->call.rank, p->call.ranks,
                           (size_t)p->call.count, i);
}

/* The parts of this rank's result that the call writes: MPI_Bcast writes none on the root. */
static int parts(const struct prepared *p)
{
    if (p->cell.collective == COLLECTIVE_BROADCAST && p->call.rank == COLLECTIVE_ROOT)
        return 0;
    return collective_parts((enum collective)p->cell.collective, p->call.rank, p->call.ranks);
}

static void poison_parts(struct prepared *p, size_t offset)
{
    for (int i = 0; i < parts(p); i++) {
        struct collective_part at = part(p, i);
        payload_poison_part(&p->payload, p->slots.out + offset + at.first * p->call.element_B, at.n,
                            at.source, at.input_first);
    }
}

static void ready_slot(struct prepared *p, size_t offset)
{
    size_t count = (size_t)p->call.count;
    if (p->cell.collective != COLLECTIVE_ALLREDUCE)
        poison_parts(p, offset);
    else if (p->cell.in_place)
        payload_fill(&p->payload, p->slots.in + offset, count);
    else
        payload_poison(&p->payload, p->slots.out + offset, count);
}

static void ready_all(struct prepared *p)
{
    for (size_t i = 0; i < p->slots.n; i++) {
        payload_fill(&p->payload, p->slots.in + i * p->slots.stride, (size_t)p->call.count);
        ready_slot(p, i * p->slots.stride);
    }
}

/* The slots of the last sample, in the order in which it used them. */
static void ready_used(struct prepared *p)
{
    size_t n = p->used < p->slots.n ? p->used : p->slots.n;
    struct slots again = p->slots;
    again.at = p->first_used;
    for (size_t i = 0; i < n; i++)
        ready_slot(p, slots_next(&again));
}

static bool allocate(struct prepared *p, int ranks)
{
    struct slots_shape shape = cell_slots(&p->cell);
    size_t scratch_B = cell_scratch_B(&p->cell, ranks);
    if (!slots_open(&p->slots, &shape, p->cell.in_place))
        return false;
    p->call.scratch = scratch_B ? malloc(scratch_B) : NULL;
    return !scratch_B || p->call.scratch;
}

static void release(void *prepared)
{
    struct prepared *p = prepared;
    slots_close(&p->slots);
    free(p->call.scratch);
    free(p);
}

/* What "cold" came to on this machine. */
static void note_slots(const struct prepared *p)
{
    const struct wl_host *host = p->self->host;
    char text[32];
    snprintf(text, sizeof text, "%zu", p->slots.n);
    host->note(host->ctx, "slots", text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)last_level_cache_B());
    host->note(host->ctx, "last_level_cache_B", text);
}

static void fill_call(struct prepared *p)
{
    const struct wl_host *host = p->self->host;
    p->call.count = (int)cell_count(&p->cell);
    p->call.element_B = cell_element_B(&p->cell);
    p->call.type = mpi_types[cell_payload(&p->cell, host->ranks).type];
    p->call.op = mpi_ops[p->cell.op];
    p->call.comm = p->self->comm;
    p->call.rank = host->rank;
    p->call.ranks = host->ranks;
}

static enum wl_status prepare(void *self, const void *cell, void **prepared)
{
    struct self *s = self;
    struct prepared *p = calloc(1, sizeof *p);
    if (p)
        p->cell = *(const struct cell *)cell;
    if (!p || !allocate(p, s->host->ranks)) {
        s->host->fail(s->host->ctx, "no memory for buffers of %llu bytes",
                      (unsigned long long)((const struct cell *)cell)->size);
        if (p)
            release(p);
        return WL_FAIL;
    }
    p->self = s;
    fill_call(p);
    struct payload_kind kind = cell_payload(&p->cell, s->host->ranks);
    payload_init(&p->payload, &kind, s->host->rank);
    ready_all(p);
    if (p->cell.buffers == COLD)
        note_slots(p);
    *prepared = p;
    return WL_OK;
}

static enum wl_status sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    struct prepared *p = prepared;
    struct mpi_call *call = &p->call;
    const struct mpi_operation *operation = cell_operation(&p->cell);
    ready_used(p);
    p->first_used = p->slots.at;
    p->used = iters;
    int rc = MPI_SUCCESS;
    if (p->cell.metric == L_ISO)
        p->self->host->start(p->self->host->ctx);
    else
        rc = MPI_Barrier(call->comm);
    out->start_ns = now_ns();
    for (unsigned i = 0; i < iters && rc == MPI_SUCCESS; i++) {
        size_t offset = slots_next(&p->slots);
        call->send = p->slots.in + offset;
        call->recv = p->slots.out + offset;
        rc = operation->run(call);
    }
    out->end_ns = now_ns();
    out->values[0] = (double)(out->end_ns - out->start_ns) * 1e-9 / iters;
    return mpi_try(p->self->host, rc, operation->name);
}

static bool check_parts(struct prepared *p, struct payload_fault *f)
{
    for (int i = 0; i < parts(p); i++) {
        struct collective_part at = part(p, i);
        const char *buf = (const char *)p->call.recv + at.first * p->call.element_B;
        if (!payload_check_part(&p->payload, buf, at.n, at.source, at.input_first, f)) {
            f->element += at.first;
            return false;
        }
    }
    return true;
}

/* The buffer of the last operation; it was reduced once in every turn of the slots. */
static enum wl_status verify(void *prepared)
{
    struct prepared *p = prepared;
    struct payload_fault f;
    if (p->used == 0)
        return WL_OK;
    unsigned turns = p->cell.in_place ? 1 + (unsigned)((p->used - 1) / p->slots.n) : 1;
    if (p->cell.collective != COLLECTIVE_ALLREDUCE
            ? check_parts(p, &f)
            : payload_check(&p->payload, p->call.recv, (size_t)p->call.count, turns, &f))
        return WL_OK;
    return HOST_FAILED(p->self->host, "element %zu of %d is %.17g, not %.17g, on rank %d",
                       f.element, p->call.count, f.got, f.expected, p->call.rank);
}

const struct wl_plugin wl_plugin_v1 = {
    .size = sizeof(struct wl_plugin),
    .name = "mpi_allreduce",
    .version = "1.0.0",
    .summary = "all-reduce of host memory: MPI's own against ring, tree, doubling, Rabenseifner",
    .params = cell_params,
    .cell_size = sizeof(struct cell),
    .metrics = metrics,
    .describe = cell_describe,
    .open = open_plugin,
    .close = close_plugin,
    .prepare = prepare,
    .release = release,
    .sample = sample,
    .verify = verify,
    .added = cell_added,
};
