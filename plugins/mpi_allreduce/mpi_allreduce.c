/* SPDX-License-Identifier: Apache-2.0
 *
 * mpi_allreduce: an all-reduce of host memory. `algorithm` compares MPI_Allreduce with algorithms
 * made of MPI point to point.
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
#include "../common/allreduce_p2p.h"
#include "../common/payload.h"
#include "../common/start.h"
#include "slots.h"
#include "workload.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define T_SS_ITERS 16
/* For plans alone: an operation's latency and bandwidth on a common host. */
#define ROUGH_LATENCY_S 2e-6
#define ROUGH_BANDWIDTH_BPS 2e9

enum metric { T_SS, L_ISO };
enum buffers { HOT, COLD };

struct cell {
    uint64_t size;
    int dtype, op;
    bool in_place;
    int buffers, metric, algorithm;
};

struct self {
    const struct wl_host *host;
    MPI_Comm comm; /* of this plugin alone */
};

struct prepared {
    struct self *self;
    struct cell cell;
    struct payload payload;
    struct slots slots;
    struct allreduce_call call;
    size_t first_used; /* slots.at before the last sample */
    unsigned used;     /* iterations of the last sample; 0 before the first */
};

static const char *const dtypes[] = {
    [PAYLOAD_FLOAT32] = "float32", [PAYLOAD_FLOAT64] = "float64", [PAYLOAD_INT32] = "int32",
    [PAYLOAD_INT64] = "int64",     [PAYLOAD_UINT8] = "uint8",     NULL};
static const MPI_Datatype mpi_types[] = {[PAYLOAD_FLOAT32] = MPI_FLOAT,
                                         [PAYLOAD_FLOAT64] = MPI_DOUBLE,
                                         [PAYLOAD_INT32] = MPI_INT32_T,
                                         [PAYLOAD_INT64] = MPI_INT64_T,
                                         [PAYLOAD_UINT8] = MPI_UINT8_T};
static const char *const ops[] = {[PAYLOAD_SUM] = "sum",
                                  [PAYLOAD_PROD] = "prod",
                                  [PAYLOAD_MAX] = "max",
                                  [PAYLOAD_MIN] = "min",
                                  NULL};
static const MPI_Op mpi_ops[] = {[PAYLOAD_SUM] = MPI_SUM,
                                 [PAYLOAD_PROD] = MPI_PROD,
                                 [PAYLOAD_MAX] = MPI_MAX,
                                 [PAYLOAD_MIN] = MPI_MIN};
static const char *const buffers[] = {[HOT] = "hot", [COLD] = "cold", NULL};
static const char *const metric_names[] = {[T_SS] = "T_ss", [L_ISO] = "L_iso", NULL};
static const char *const algorithms[] = {[ALLREDUCE_AUTO] = "auto",
                                         [ALLREDUCE_RING] = "ring",
                                         [ALLREDUCE_TREE] = "tree",
                                         [ALLREDUCE_RECURSIVE_DOUBLING] = "recursive_doubling",
                                         [ALLREDUCE_RABENSEIFNER] = "rabenseifner",
                                         NULL};

#define P(member, type, role, ctype) #member, type, role, WL_FIELD(struct cell, member, ctype)
/* clang-format off */
static const struct wl_param params[] = {
    {P(size, WL_SIZE, WL_AXIS, uint64_t), "B", "1MiB", 1, 1ull << 40, NULL,
     "bytes of the buffer on one rank, a multiple of the element"},
    {P(dtype, WL_CHOICE, WL_AXIS, int), NULL, "float32", 0, 0, dtypes,
     "type of an element"},
    {P(op, WL_CHOICE, WL_AXIS, int), NULL, "sum", 0, 0, ops,
     "how the ranks' elements become one"},
    {P(in_place, WL_BOOL, WL_AXIS, bool), NULL, "no", 0, 0, NULL,
     "the result replaces the input"},
    {P(buffers, WL_CHOICE, WL_AXIS, int), NULL, "hot", 0, 0, buffers,
     "hot: one buffer; cold: rotating over 4 times the last-level cache"},
    {P(metric, WL_CHOICE, WL_AXIS, int), NULL, "T_ss", 0, 0, metric_names,
     "T_ss: steady state, back to back; L_iso: one operation from a shared start"},
    {P(algorithm, WL_CHOICE, WL_CONFIG, int), NULL, "auto", 0, 0, algorithms,
     "auto: MPI_Allreduce; the others are made of MPI point to point"},
    {0}};
/* clang-format on */

static const struct wl_metric metrics[] = {{"time", "s", "one all-reduce", WL_MAX}, {0}};

/* ---- what a cell is ---- */

static struct payload_kind payload_kind(const struct cell *c, int ranks)
{
    return (struct payload_kind){.type = (enum payload_type)c->dtype,
                                 .op = (enum payload_op)c->op,
                                 .ranks = ranks,
                                 .chained = c->in_place && c->metric == T_SS};
}

static size_t count_of(const struct cell *c)
{
    return (size_t)c->size / payload_element_B((enum payload_type)c->dtype);
}

static size_t scratch_of(const struct cell *c, int ranks)
{
    return allreduce_scratch_B((enum allreduce_kind)c->algorithm, count_of(c),
                               payload_element_B((enum payload_type)c->dtype), ranks, c->in_place);
}

static enum wl_status judge(const struct cell *c, const struct wl_job *job, char *why, size_t n)
{
    size_t element_B = payload_element_B((enum payload_type)c->dtype);
    struct payload_kind kind = payload_kind(c, job->ranks);
    if (job->ranks < 2) {
        snprintf(why, n, "ranks=%d: an all-reduce needs at least 2", job->ranks);
        return WL_FAIL;
    }
    if (c->size == 0 || c->size % element_B != 0) {
        snprintf(why, n, "size=%llu is not a multiple of the %zu bytes of dtype=%s",
                 (unsigned long long)c->size, element_B, dtypes[c->dtype]);
        return WL_FAIL;
    }
    if (c->size / element_B > INT_MAX) {
        snprintf(why, n, "size=%llu is more than the %d elements of dtype=%s that MPI can count",
                 (unsigned long long)c->size, INT_MAX, dtypes[c->dtype]);
        return WL_FAIL;
    }
    if (payload_reductions(&kind) < (kind.chained ? T_SS_ITERS : 1)) {
        snprintf(why, n,
                 "dtype=%s op=%s%s on %d ranks has no values whose result is exact; "
                 "use a wider dtype",
                 dtypes[c->dtype], ops[c->op], kind.chained ? " in_place=yes metric=T_ss" : "",
                 job->ranks);
        return WL_SKIP;
    }
    return WL_OK;
}

static enum wl_status describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                               char *why, size_t why_size)
{
    const struct cell *c = cell;
    enum wl_status status = judge(c, job, why, why_size);
    if (status == WL_FAIL)
        return status;
    struct payload_kind kind = payload_kind(c, job->ranks);
    unsigned reductions = payload_reductions(&kind);
    bool isolated = c->metric == L_ISO;
    shape->size_B = c->size;
    shape->busbw_factor = 2.0 * (job->ranks - 1) / job->ranks;
    shape->host_B = slots_shape(c->size, c->buffers == COLD, c->in_place).total_B +
                    scratch_of(c, job->ranks) + sizeof(struct prepared);
    shape->iteration_s = ROUGH_LATENCY_S * log2(job->ranks) +
                         (double)c->size * shape->busbw_factor / ROUGH_BANDWIDTH_BPS;
    shape->iters_min = isolated ? 1 : T_SS_ITERS;
    shape->iters_max = isolated ? 1 : kind.chained && reductions != UINT_MAX ? reductions : 0;
    shape->span = isolated;
    return status;
}

/* ---- the plugin's life ---- */

static enum wl_status mpi_failed(const struct self *self, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    MPI_Error_string(code, text, &n);
    self->host->fail(self->host->ctx, "%s: %s", what, text);
    return WL_FAIL;
}

static enum wl_status open_plugin(void **self, const struct wl_host *host)
{
    struct self *s = calloc(1, sizeof *s);
    if (!s) {
        host->fail(host->ctx, "out of memory");
        return WL_FAIL;
    }
    s->host = host;
    int rc = MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
    if (rc != MPI_SUCCESS) {
        enum wl_status status = mpi_failed(s, "MPI_Comm_dup", rc);
        free(s);
        return status;
    }
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    *self = s;
    return WL_OK;
}

static void close_plugin(void *self)
{
    struct self *s = self;
    MPI_Comm_free(&s->comm);
    free(s);
}

static void ready_slot(struct prepared *p, size_t offset)
{
    size_t count = (size_t)p->call.count;
    if (p->cell.in_place)
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
    struct slots_shape shape = slots_shape(p->cell.size, p->cell.buffers == COLD, p->cell.in_place);
    size_t scratch_B = scratch_of(&p->cell, ranks);
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
    p->call.count = (int)count_of(&p->cell);
    p->call.element_B = payload_element_B((enum payload_type)p->cell.dtype);
    p->call.type = mpi_types[p->cell.dtype];
    p->call.op = mpi_ops[p->cell.op];
    p->call.comm = s->comm;
    p->call.rank = s->host->rank;
    p->call.ranks = s->host->ranks;
    struct payload_kind kind = payload_kind(&p->cell, s->host->ranks);
    payload_init(&p->payload, &kind, s->host->rank);
    ready_all(p);
    *prepared = p;
    return WL_OK;
}

static enum wl_status sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    struct prepared *p = prepared;
    struct allreduce_call *call = &p->call;
    int (*run)(const struct allreduce_call *) = allreduces[p->cell.algorithm].run;
    ready_used(p);
    p->first_used = p->slots.at;
    p->used = iters;
    int rc = p->cell.metric == L_ISO ? start_together(call->comm, p->self->host->nodes)
                                     : MPI_Barrier(call->comm);
    out->start_ns = now_ns();
    for (unsigned i = 0; i < iters && rc == MPI_SUCCESS; i++) {
        size_t offset = slots_next(&p->slots);
        call->send = p->slots.in + offset;
        call->recv = p->slots.out + offset;
        rc = run(call);
    }
    out->end_ns = now_ns();
    out->values[0] = (double)(out->end_ns - out->start_ns) * 1e-9 / iters;
    return rc == MPI_SUCCESS ? WL_OK : mpi_failed(p->self, algorithms[p->cell.algorithm], rc);
}

/* The buffer of the last operation; it was reduced once in every turn of the slots. */
static enum wl_status verify(void *prepared)
{
    struct prepared *p = prepared;
    struct payload_fault f;
    if (p->used == 0)
        return WL_OK;
    unsigned turns = p->cell.in_place ? 1 + (unsigned)((p->used - 1) / p->slots.n) : 1;
    if (payload_check(&p->payload, p->call.recv, (size_t)p->call.count, turns, &f))
        return WL_OK;
    p->self->host->fail(p->self->host->ctx, "element %zu of %d is %.17g, not %.17g, on rank %d",
                        f.element, p->call.count, f.got, f.expected, p->call.rank);
    return WL_FAIL;
}

const struct wl_plugin wl_plugin_v1 = {
    .size = sizeof(struct wl_plugin),
    .name = "mpi_allreduce",
    .version = "1.0.0",
    .summary = "all-reduce of host memory: MPI's own against ring, tree, doubling, Rabenseifner",
    .params = params,
    .cell_size = sizeof(struct cell),
    .metrics = metrics,
    .describe = describe,
    .open = open_plugin,
    .close = close_plugin,
    .prepare = prepare,
    .release = release,
    .sample = sample,
    .verify = verify,
};
