/* SPDX-License-Identifier: Apache-2.0
 *
 * mpi_allreduce: an all-reduce of host memory. `algorithm` compares MPI_Allreduce with algorithms
 * made of MPI point to point.
 *
 *   metric = T_ss   steady state: 16 operations or more back to back, time of one
 *   metric = L_iso  isolated latency: one operation from a start that the ranks share,
 *                   max(end) - min(start) over the ranks
 *
 * All operations use the same buffers. Untimed before each sample, an input in place is written anew,
 * and an output is poisoned. What repeated reductions in place leave behind is exact with some numbers
 * of ranks (payload.h); with others, verify() checks one more operation on fresh inputs.
 *
 * There is no abort(): MPI has no means to end a collective that hangs; the runner's deadline does.
 */
#include "common/clock.h"
#include "common/collective.h"
#include "common/host.h"
#include "common/mpi_calls.h"
#include "common/payload.h"
#include "workload.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== a cell ==== */

enum metric { T_SS, L_ISO };

struct cell {
    uint64_t size;
    int dtype;
    bool in_place;
    int metric, algorithm;
};

#define T_SS_ITERS 16
#define PAGE_B 4096
/* For plans alone: an operation's latency and bandwidth on a common host. */
#define ROUGH_LATENCY_S 2e-6
#define ROUGH_BANDWIDTH_BPS 2e9

static const char *const dtypes[] = {"float32", "float64", NULL};
static const enum payload_type types[] = {PAYLOAD_FP32, PAYLOAD_FP64};
static const char *const metric_names[] = {[T_SS] = "T_ss", [L_ISO] = "L_iso", NULL};
static const char *const algorithms[] = {
    [ALLREDUCE_AUTO] = "auto", [ALLREDUCE_RING] = "ring", [ALLREDUCE_TREE] = "tree", NULL};

#define P(member, type, role, ctype) #member, type, role, WL_FIELD(struct cell, member, ctype)
/* clang-format off */
static const struct wl_param cell_params[] = {
    {P(size, WL_SIZE, WL_AXIS, uint64_t), "B", "1MiB", 1, 1ull << 40, NULL,
     "bytes of the buffer on one rank; a multiple of the element size"},
    {P(dtype, WL_CHOICE, WL_AXIS, int), NULL, "float32", 0, 0, dtypes,
     "type of an element"},
    {P(in_place, WL_BOOL, WL_AXIS, bool), NULL, "no", 0, 0, NULL,
     "the result replaces the input"},
    {P(metric, WL_CHOICE, WL_AXIS, int), NULL, "T_ss", 0, 0, metric_names,
     "T_ss: operations back to back; L_iso: one operation from a common start"},
    {P(algorithm, WL_CHOICE, WL_CONFIG, int), NULL, "auto", 0, 0, algorithms,
     "auto: MPI_Allreduce; the others use MPI point to point"},
    {0}};
/* clang-format on */

static size_t cell_element_B(const struct cell *c)
{
    return payload_dtypes[types[c->dtype]].size_B;
}

/* Elements of the larger buffer. */
static size_t cell_count(const struct cell *c)
{
    return (size_t)c->size / cell_element_B(c);
}

static size_t cell_scratch_B(const struct cell *c, int ranks)
{
    return mpi_scratch_B((enum allreduce_kind)c->algorithm, cell_count(c), cell_element_B(c), ranks,
                         c->in_place);
}

static enum wl_status cell_describe(const void *cell, const struct wl_job *job,
                                    struct wl_shape *shape, char *why, size_t why_size)
{
    const struct cell *c = cell;
    const size_t element_B = cell_element_B(c);
    if (job->ranks < 2)
        return HOST_WHY(WL_FAIL, why, why_size, "ranks=%d: an all-reduce needs at least 2",
                        job->ranks);
    if (!collective_divides(COLLECTIVE_ALLREDUCE, c->size, element_B, dtypes[c->dtype], job->ranks,
                            why, why_size))
        return WL_FAIL;
    if (c->size / element_B > INT_MAX)
        return HOST_WHY(WL_FAIL, why, why_size,
                        "size=%llu is more than the %d elements of dtype=%s that MPI can count",
                        (unsigned long long)c->size, INT_MAX, dtypes[c->dtype]);
    bool isolated = c->metric == L_ISO;
    shape->size_B = c->size;
    shape->busbw_factor = collective_busbw_factor(COLLECTIVE_ALLREDUCE, job->ranks);
    shape->host_B = c->size * (c->in_place ? 1 : 2) + cell_scratch_B(c, job->ranks);
    shape->iteration_s = ROUGH_LATENCY_S * log2(job->ranks) +
                         (double)c->size * shape->busbw_factor / ROUGH_BANDWIDTH_BPS;
    shape->iters_min = isolated ? 1 : T_SS_ITERS;
    shape->iters_max = isolated ? 1 : 0;
    shape->span = isolated;
    return WL_OK;
}

/* ==== measuring ==== */

struct self {
    const struct wl_host *host;
    MPI_Comm comm; /* of this plugin alone */
};

struct prepared {
    struct self *self;
    struct cell cell;
    struct payload_words payload;
    struct mpi_call call;
    char *in, *out; /* the same memory in place */
    unsigned used;  /* iterations of the last sample; 0 before the first */
};

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

/* Every bit set is NaN, which no result is. */
static void make_ready(struct prepared *p)
{
    if (p->cell.in_place)
        payload_fill(&p->payload, p->in, (size_t)p->call.count);
    else
        memset(p->out, 0xff, (size_t)p->cell.size);
}

static void release(void *prepared)
{
    struct prepared *p = prepared;
    if (p->out != p->in)
        free(p->out);
    free(p->in);
    free(p->call.scratch);
    free(p);
}

static enum wl_status prepare(void *self, const void *cell, void **prepared)
{
    struct self *s = self;
    const struct wl_host *host = s->host;
    const struct cell *c = cell;
    const size_t bytes = ((size_t)c->size + PAGE_B - 1) / PAGE_B * PAGE_B;
    struct prepared *p = calloc(1, sizeof *p);
    if (!p)
        return HOST_FAILED(host, "out of memory");
    p->self = s;
    p->cell = *c;
    p->in = aligned_alloc(PAGE_B, bytes);
    p->out = c->in_place ? p->in : aligned_alloc(PAGE_B, bytes);
    p->call = (struct mpi_call){.send = p->in,
                                .recv = p->out,
                                .count = (int)cell_count(c),
                                .element_B = cell_element_B(c),
                                .type = types[c->dtype] == PAYLOAD_FP64 ? MPI_DOUBLE : MPI_FLOAT,
                                .op = MPI_SUM,
                                .comm = s->comm,
                                .rank = host->rank,
                                .ranks = host->ranks,
                                .scratch = malloc(cell_scratch_B(c, host->ranks) + 1)};
    if (!p->in || !p->out || !p->call.scratch) {
        release(p);
        return HOST_FAILED(host, "no memory for buffers of %llu bytes",
                           (unsigned long long)c->size);
    }
    payload_words_make(&p->payload, types[c->dtype], host->rank, host->ranks, c->in_place, 1);
    payload_fill(&p->payload, p->in, (size_t)p->call.count);
    *prepared = p;
    return WL_OK;
}

static enum wl_status sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    struct prepared *p = prepared;
    struct mpi_call *call = &p->call;
    const struct mpi_operation *operation = &mpi_allreduces[p->cell.algorithm];
    make_ready(p);
    p->used = iters;
    int rc = MPI_SUCCESS;
    if (p->cell.metric == L_ISO)
        p->self->host->start(p->self->host->ctx);
    else
        rc = MPI_Barrier(call->comm);
    out->start_ns = now_ns();
    for (unsigned i = 0; i < iters && rc == MPI_SUCCESS; i++)
        rc = operation->run(call);
    out->end_ns = now_ns();
    out->values[0] = (double)(out->end_ns - out->start_ns) * 1e-9 / iters;
    return mpi_try(p->self->host, rc, operation->name);
}

static enum wl_status verify(void *prepared)
{
    struct prepared *p = prepared;
    const struct wl_host *host = p->self->host;
    const size_t count = (size_t)p->call.count;
    struct payload_words words;
    struct payload_fault f;
    if (p->used == 0)
        return WL_OK;
    if (!payload_words_make(&words, types[p->cell.dtype], host->rank, host->ranks, p->cell.in_place,
                            p->used)) {
        const struct mpi_operation *operation = &mpi_allreduces[p->cell.algorithm];
        words = p->payload;
        payload_fill(&words, p->call.recv, count);
        enum wl_status status = mpi_try(host, operation->run(&p->call), operation->name);
        if (status != WL_OK)
            return status;
    }
    if (payload_check(&words, p->call.recv, count, &f))
        return WL_OK;
    return HOST_FAILED(host, "element %zu of %d is %.17g, not %.17g, on rank %d", f.element,
                       p->call.count, f.got, f.expected, host->rank);
}

const struct wl_plugin wl_plugin_v1 = {
    .size = sizeof(struct wl_plugin),
    .name = "mpi_allreduce",
    .version = "2.0.0",
    .summary = "all-reduce of host memory: MPI's own against a ring and a tree",
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
};
