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
 * behind is exact with some numbers of ranks (payload.h); with others, verify() checks one more
 * operation on fresh inputs.
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

/* ==== slots ====
 *
 * The buffers of a sample's operations. Hot: every operation uses the same slot. Cold: the slots
 * fill 4 times the last-level cache and are used in a fixed scattered order. So a slot has left the
 * cache before it is used again, and no prefetcher predicts it. A slot is an input and an output,
 * or one buffer in place; each buffer is aligned to SLOT_ALIGN.
 */

#define SLOT_ALIGN 256
#define CACHES "/sys/devices/system/cpu/cpu0/cache/index%d/size"
#define UNKNOWN_CACHE_B (UINT64_C(64) << 20) /* where the kernel does not say, as in some guests */
#define COLD_CACHES 4
#define PAGE_B 4096

struct slots {
    char *in, *out;     /* the same memory in place */
    size_t stride;      /* bytes from one slot to the next */
    size_t n, step, at; /* number of slots, distance to the next one, next one to use */
};

struct slots_shape {
    size_t stride, n;
    uint64_t total_B;
};

/* Bytes of the last-level cache of the first processor. */
static uint64_t last_level_cache_B(void)
{
    uint64_t largest = 0;
    for (int i = 0; i < 8; i++) {
        char path[sizeof CACHES + 8];
        unsigned long kib;
        snprintf(path, sizeof path, CACHES, i);
        FILE *f = fopen(path, "re");
        if (!f)
            break;
        if (fscanf(f, "%luK", &kib) == 1 && (uint64_t)kib << 10 > largest)
            largest = (uint64_t)kib << 10;
        fclose(f);
    }
    return largest ? largest : UNKNOWN_CACHE_B;
}

static size_t gcd(size_t a, size_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

/* Near the golden section, which keeps visits that are close in time far apart in memory, and
 * without a factor common with n, so that every slot has its turn. */
static size_t scattered_step(size_t n)
{
    size_t step = (size_t)((double)n * 0.6180339887);
    while (step > 1 && gcd(step, n) != 1)
        step--;
    return n == 1 ? 0 : step > 0 ? step : 1;
}

/* The shape for slots_open() with buffers of size_B. */
static struct slots_shape slots_shape(uint64_t size_B, bool cold, bool in_place)
{
    uint64_t stride = (size_B + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
    uint64_t of_a_slot = stride * (in_place ? 1 : 2), n = 1;
    if (cold) {
        n = (COLD_CACHES * last_level_cache_B() + of_a_slot - 1) / of_a_slot;
        n = n < 2 ? 2 : n;
    }
    return (struct slots_shape){(size_t)stride, (size_t)n, n * of_a_slot};
}

static void slots_close(struct slots *s)
{
    if (s->out != s->in)
        free(s->out);
    free(s->in);
    s->in = s->out = NULL;
}

/* False: out of memory; then there is nothing to close. Does not touch the memory. */
static bool slots_open(struct slots *s, const struct slots_shape *shape, bool in_place)
{
    size_t bytes = (shape->stride * shape->n + PAGE_B - 1) / PAGE_B * PAGE_B;
    *s = (struct slots){.stride = shape->stride, .n = shape->n, .step = scattered_step(shape->n)};
    s->in = aligned_alloc(PAGE_B, bytes);
    s->out = in_place ? s->in : aligned_alloc(PAGE_B, bytes);
    if (s->in && s->out)
        return true;
    slots_close(s);
    return false;
}

/* The slot to use now; the next call gives the next one. */
static size_t slots_next(struct slots *s)
{
    size_t now = s->at;
    s->at = now + s->step < s->n ? now + s->step : now + s->step - s->n;
    return now * s->stride;
}

/* ==== a cell ==== */

enum metric { T_SS, L_ISO };
enum buffers { HOT, COLD };

struct cell {
    uint64_t size;
    int dtype;
    bool in_place;
    int buffers, metric, algorithm;
};

#define T_SS_ITERS 16
/* For plans alone: an operation's latency and bandwidth on a common host. */
#define ROUGH_LATENCY_S 2e-6
#define ROUGH_BANDWIDTH_BPS 2e9

static const char *const dtypes[] = {"float32", "float64", NULL};
static const enum payload_type types[] = {PAYLOAD_FP32, PAYLOAD_FP64};
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
static const struct wl_param cell_params[] = {
    {P(size, WL_SIZE, WL_AXIS, uint64_t), "B", "1MiB", 1, 1ull << 40, NULL,
     "bytes of the buffer on one rank; a multiple of the element size"},
    {P(dtype, WL_CHOICE, WL_AXIS, int), NULL, "float32", 0, 0, dtypes,
     "type of an element"},
    {P(in_place, WL_BOOL, WL_AXIS, bool), NULL, "no", 0, 0, NULL,
     "the result replaces the input"},
    {P(buffers, WL_CHOICE, WL_AXIS, int), NULL, "hot", 0, 0, buffers,
     "hot: reuse one buffer; cold: rotate through 4 times the last-level cache"},
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

static struct slots_shape cell_slots(const struct cell *c)
{
    return slots_shape(c->size, c->buffers == COLD, c->in_place);
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
    shape->host_B = cell_slots(c).total_B + cell_scratch_B(c, job->ranks);
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
    struct slots slots;
    struct mpi_call call;
    size_t first_used; /* slots.at before the last sample */
    unsigned used;     /* iterations of the last sample; 0 before the first */
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
static void ready_slot(struct prepared *p, size_t offset)
{
    if (p->cell.in_place)
        payload_fill(&p->payload, p->slots.in + offset, (size_t)p->call.count);
    else
        memset(p->slots.out + offset, 0xff, (size_t)p->cell.size);
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
    const struct wl_host *host = s->host;
    const struct cell *c = cell;
    const struct slots_shape shape = cell_slots(c);
    struct prepared *p = calloc(1, sizeof *p);
    if (!p)
        return HOST_FAILED(host, "out of memory");
    p->self = s;
    p->cell = *c;
    p->call = (struct mpi_call){.count = (int)cell_count(c),
                                .element_B = cell_element_B(c),
                                .type = types[c->dtype] == PAYLOAD_FP64 ? MPI_DOUBLE : MPI_FLOAT,
                                .op = MPI_SUM,
                                .comm = s->comm,
                                .rank = host->rank,
                                .ranks = host->ranks,
                                .scratch = malloc(cell_scratch_B(c, host->ranks) + 1)};
    if (!slots_open(&p->slots, &shape, c->in_place) || !p->call.scratch) {
        release(p);
        return HOST_FAILED(host, "no memory for buffers of %llu bytes",
                           (unsigned long long)c->size);
    }
    payload_words_make(&p->payload, types[c->dtype], PAYLOAD_SUM, host->rank, host->ranks,
                       c->in_place, 1);
    for (size_t i = 0; i < p->slots.n; i++) {
        payload_fill(&p->payload, p->slots.in + i * p->slots.stride, (size_t)p->call.count);
        ready_slot(p, i * p->slots.stride);
    }
    if (c->buffers == COLD) { /* what "cold" came to on this machine */
        char text[32];
        snprintf(text, sizeof text, "%zu", p->slots.n);
        host->note(host->ctx, "slots", text);
        snprintf(text, sizeof text, "%llu", (unsigned long long)last_level_cache_B());
        host->note(host->ctx, "last_level_cache_B", text);
    }
    *prepared = p;
    return WL_OK;
}

static enum wl_status sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    struct prepared *p = prepared;
    struct mpi_call *call = &p->call;
    const struct mpi_operation *operation = &mpi_allreduces[p->cell.algorithm];
    struct slots again =
        p->slots; /* those of the last sample, in the order in which it used them */
    again.at = p->first_used;
    for (size_t i = 0; i < p->used && i < p->slots.n; i++)
        ready_slot(p, slots_next(&again));
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

/* The buffer of the last operation; in place it was reduced once in every turn of the slots. */
static enum wl_status verify(void *prepared)
{
    struct prepared *p = prepared;
    const struct wl_host *host = p->self->host;
    const size_t count = (size_t)p->call.count;
    struct payload_words words;
    struct payload_fault f;
    if (p->used == 0)
        return WL_OK;
    if (!payload_words_make(&words, types[p->cell.dtype], PAYLOAD_SUM, host->rank, host->ranks,
                            p->cell.in_place, 1 + (p->used - 1) / p->slots.n)) {
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
    .version = "1.1.0",
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
};
