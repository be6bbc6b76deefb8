/* SPDX-License-Identifier: Apache-2.0
 *
 * iter_proxy: one training step as GEMMs and gradient buckets, so that the cost of communication can be
 * told apart: mode = compute (A), comm (B), sequential (C), overlapped (D), all in the same blocks.
 * Exposed communication is D - A; overlap is (C - D) / min(A, B).
 *
 * A backend computes and communicates (backend.h). The table `traits` below lists what each backend
 * accepts, because a plan must work where the backend cannot be loaded.
 */
#include "common/collective.h"
#include "common/host.h"
#include "iter_proxy/backend.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct backend {
    const struct proxy_backend *ops;
    void *library; /* NULL: linked in */
    void *state;
    _Atomic bool open; /* abort() comes from another thread */
    bool refused;      /* could not be opened here */
};

struct backends {
    const struct wl_host *host;
    struct backend of[PROXY_BACKENDS]; /* PROXY_AUTO stays empty */
};

struct prepared {
    struct backends *backends;
    const struct proxy_backend *ops;
    struct proxy_cell cell;
    void *step;
};

/* ==== parameters ==== */

/* By the enums of backend.h. */
static const char *const backends[] = {"auto", "host", "cuda", NULL};
static const char *const precisions[] = {"auto", "fp32", "tf32", "bf16", NULL};
static const char *const modes[] = {"compute", "comm", "sequential", "overlapped", NULL};
static const char *const issues[] = {"after", "beside", NULL};
static const char *const algorithms[] = {"auto", "ring", "tree", "nvls", NULL};
static const char *const protocols[] = {"auto", "LL", "LL128", "Simple", NULL};

#define P(member, type, role, ctype) #member, type, role, WL_FIELD(struct proxy_cell, member, ctype)
/* clang-format off */
static const struct wl_param params[] = {
    {P(backend, WL_CHOICE, WL_AXIS, int), NULL, "auto", 0, 0, backends,
     "host: BLAS and MPI; cuda: cuBLAS and NCCL; auto: cuda if there is a GPU"},
    {P(size, WL_SIZE, WL_AXIS, uint64_t), "B", "16MiB", 4, 1ull << 40, NULL,
     "bytes of the gradient on one rank, all buckets, float32"},
    {P(buckets, WL_INT, WL_AXIS, int64_t), NULL, "4", 1, 1 << 16, NULL,
     "number of equal buckets, communicated one after the other"},
    {P(gemm, WL_INT, WL_AXIS, int64_t), NULL, "256", 1, 1 << 15, NULL,
     "dimension n of each n x n x n GEMM"},
    {P(gemms, WL_INT, WL_AXIS, int64_t), NULL, "12", 1, 1 << 20, NULL,
     "number of GEMMs in a step, forward and backward"},
    {P(precision, WL_CHOICE, WL_AXIS, int), NULL, "auto", 0, 0, precisions,
     "precision of the GEMMs; host: fp32; cuda: fp32, tf32 (auto), bf16"},
    {P(issue, WL_CHOICE, WL_AXIS, int), NULL, "after", 0, 0, issues,
     "when overlapped, start a bucket after or beside its share of the backward GEMMs"},
    {P(mode, WL_CHOICE, WL_MODE, int), NULL, "overlapped", 0, 0, modes,
     "compute: GEMMs alone; comm: communication alone; sequential: one after the other; "
     "overlapped: both at once"},
    {P(algorithm, WL_CHOICE, WL_CONFIG, int), NULL, "auto", 0, 0, algorithms,
     "algorithm of the all-reduce; auto: the library chooses"},
    {P(protocol, WL_CHOICE, WL_CONFIG, int), NULL, "auto", 0, 0, protocols,
     "NCCL's protocol; host: auto only"},
    {P(ctas, WL_INT, WL_CONFIG, int64_t), NULL, "0", 0, 64, NULL,
     "exact number of NCCL's CTAs; 0: NCCL chooses; host: 0 only"},
    {0}};
/* clang-format on */

static const struct wl_metric metrics[] = {{"time", "s", "one iteration", WL_MAX}, {0}};

/* ==== what a cell is ==== */

#define BIT(x) (1u << (x))

/* Rates are rough, for plans alone. */
static const struct trait {
    unsigned precisions, algorithms, protocols; /* accepted, by BIT */
    int64_t ctas_max;
    int precision; /* that `auto` means */
    double flop_per_s, bytes_per_s;
} traits[PROXY_BACKENDS] = {
    [PROXY_HOST] = {.precisions = BIT(PROXY_PRECISION_AUTO) | BIT(PROXY_FP32),
                    .algorithms = BIT(PROXY_ALGORITHM_AUTO) | BIT(PROXY_RING) | BIT(PROXY_TREE),
                    .protocols = BIT(PROXY_PROTOCOL_AUTO),
                    .precision = PROXY_FP32,
                    .flop_per_s = 5e10,
                    .bytes_per_s = 2e9},
    [PROXY_CUDA] = {.precisions = ~0u,
                    .algorithms = BIT(PROXY_ALGORITHM_AUTO) | BIT(PROXY_RING) | BIT(PROXY_TREE) |
                                  BIT(PROXY_NVLS),
                    .protocols = ~0u,
                    .ctas_max = 64,
                    .precision = PROXY_TF32,
                    .flop_per_s = 3e14,
                    .bytes_per_s = 2e11},
};

/* WL_SKIP and `why` if this backend lacks the precision, algorithm, protocol or number of CTAs. */
static enum wl_status accept(enum proxy_backend_kind kind, const struct proxy_cell *c, char *why,
                             size_t n)
{
    const struct trait *t = &traits[kind];
    const struct {
        const char *key;
        int value;
        unsigned allowed;
        const char *const *names;
    } choice[] = {{"precision", c->precision, t->precisions, precisions},
                  {"algorithm", c->algorithm, t->algorithms, algorithms},
                  {"protocol", c->protocol, t->protocols, protocols}};
    for (size_t i = 0; i < sizeof choice / sizeof *choice; i++) {
        if (choice[i].allowed & BIT(choice[i].value))
            continue;
        char names[128] = "";
        size_t at = 0;
        for (int k = 0; choice[i].names[k]; k++)
            if (choice[i].allowed & BIT(k) && at < sizeof names)
                at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", at ? ", " : "",
                                       choice[i].names[k]);
        return HOST_WHY(WL_SKIP, why, n, "backend=%s has no %s=%s (%s)", backends[kind],
                        choice[i].key, choice[i].names[choice[i].value], names);
    }
    if (c->ctas > t->ctas_max)
        return HOST_WHY(WL_SKIP, why, n, "backend=%s has no ctas=%lld (0..%lld)", backends[kind],
                        (long long)c->ctas, (long long)t->ctas_max);
    return WL_OK;
}

/* Adds the cost of one iteration with this backend. On a device the steps of a group share one set of
 * operands and one gradient: the config that is all default counts them, in the modes that may stand
 * alone. So do the modes of a config with its communicator. */
static void add_cost(enum proxy_backend_kind kind, const struct proxy_cell *c, double busbw_factor,
                     struct wl_shape *shape)
{
    const struct trait *t = &traits[kind];
    const bool computes = proxy_computes(c), communicates = proxy_communicates(c);
    const double n = (double)c->gemm;
    const uint64_t operands_B = 3 * (uint64_t)(c->gemm * c->gemm) *
                                (kind == PROXY_CUDA && c->precision == PROXY_BF16 ? 2 : 4);
    const bool library = !c->algorithm && !c->protocol && !c->ctas;
    shape->iteration_s = (computes ? 2 * n * n * n * (double)c->gemms / t->flop_per_s : 0) +
                         (communicates ? (double)c->size * busbw_factor / t->bytes_per_s : 0);
    if (kind == PROXY_HOST) {
        const uint64_t scratch_B = c->size - proxy_bucket(c, c->buckets - 1) * sizeof(float);
        shape->host_B += (computes ? operands_B : 0) + (communicates ? 2 * c->size + scratch_B : 0);
    } else if (c->mode != PROXY_SEQUENTIAL) {
        shape->device_B += (communicates ? COMM_MEMORY_B : 0) +
                           (library && c->mode != PROXY_COMM ? operands_B : 0) +
                           (library && communicates ? 2 * c->size : 0);
    }
}

static enum wl_status describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                               char *why, size_t n)
{
    const struct proxy_cell *c = cell;
    const uint64_t elements = c->size / sizeof(float);
    if (job->ranks < 2 && c->mode != PROXY_COMPUTE)
        return HOST_WHY(WL_FAIL, why, n,
                        "ranks=%d: a collective needs at least 2 (mode=compute needs 1)",
                        job->ranks);
    if (c->size == 0 || c->size % sizeof(float) != 0)
        return HOST_WHY(WL_FAIL, why, n, "size=%llu is not a multiple of the %zu bytes of float32",
                        (unsigned long long)c->size, sizeof(float));
    if (elements < (uint64_t)c->buckets)
        return HOST_WHY(WL_FAIL, why, n, "buckets=%lld is more than the %llu elements of size=%llu",
                        (long long)c->buckets, (unsigned long long)elements,
                        (unsigned long long)c->size);
    if (elements / (uint64_t)c->buckets >= INT_MAX)
        return HOST_WHY(WL_FAIL, why, n,
                        "size=%llu in buckets=%lld is more than %d elements per bucket",
                        (unsigned long long)c->size, (long long)c->buckets, INT_MAX);
    const double factor = collective_busbw_factor(COLLECTIVE_ALLREDUCE, job->ranks);
    shape->config_free = c->mode == PROXY_COMPUTE;
    shape->iters_min = 1;
    shape->size_B = c->size;
    shape->busbw_factor = c->mode == PROXY_COMM ? factor : 0;
    /* auto may mean either: the memory of both, and the time of the host. */
    enum wl_status best = WL_SKIP;
    for (enum proxy_backend_kind kind = PROXY_CUDA; kind > PROXY_AUTO; kind--) {
        if (c->backend != PROXY_AUTO && c->backend != (int)kind)
            continue;
        add_cost(kind, c, factor, shape);
        if (accept(kind, c, why, n) == WL_OK)
            best = WL_OK;
    }
    return best;
}

/* ==== the backends of this process ==== */

static void shut(struct backend *at)
{
    if (at->open)
        at->ops->close(at->state);
    if (at->library)
        dlclose(at->library);
    *at = (struct backend){.refused = at->refused};
}

/* Opens this backend on every rank. All ranks get the same status; host->fail() has the reason. */
static enum wl_status open_backend(struct backends *b, enum proxy_backend_kind kind)
{
    struct backend *at = &b->of[kind];
    enum wl_status status = WL_OK;
    char why[512] = "", told[400];
    if (at->open)
        return WL_OK;
    if (kind == PROXY_HOST) {
        at->ops = &proxy_backend_host;
    } else {
        struct host_backend so;
        status = host_backend(&so, backends[kind], PROXY_BACKEND_SYMBOL,
                              sizeof(struct proxy_backend), told, sizeof told);
        if (status != WL_OK)
            snprintf(why, sizeof why, "backend=%s%s: %s", backends[kind],
                     status == WL_SKIP ? " is not here" : "", told);
        at->library = so.library;
        at->ops = so.ops;
    }
    status = host_agree(b->host, status, why);
    if (status == WL_OK) {
        status = at->ops->open(&at->state, b->host);
        at->open = status == WL_OK;
        status = host_agree(b->host, status, NULL);
    }
    if (status != WL_OK) {
        at->refused = true;
        shut(at);
    }
    return status;
}

static enum wl_status open_plugin(void **self, const struct wl_host *host)
{
    struct backends *b = calloc(1, sizeof *b);
    if (!b)
        return HOST_FAILED(host, "out of memory");
    b->host = host;
    *self = b;
    return WL_OK;
}

static void close_plugin(void *self)
{
    struct backends *b = self;
    for (int i = 0; i < PROXY_BACKENDS; i++)
        shut(&b->of[i]);
    free(b);
}

static void abort_plugin(void *self)
{
    struct backends *b = self;
    for (int i = 0; i < PROXY_BACKENDS; i++)
        if (b->of[i].open && b->of[i].ops->abort)
            b->of[i].ops->abort(b->of[i].state);
}

/* ==== a step ==== */

/* auto: the GPU if there is one, and the host otherwise: never the one for some configs of a
 * comparison and the other for the rest because of what they accept. */
static enum wl_status prepare_step(struct prepared *p)
{
    struct backends *b = p->backends;
    const struct wl_host *host = b->host;
    const struct proxy_cell asked = p->cell;
    struct proxy_cell *c = &p->cell;
    char why[256];
    if (asked.backend == PROXY_AUTO)
        c->backend = !b->of[PROXY_CUDA].refused && open_backend(b, PROXY_CUDA) == WL_OK
                         ? PROXY_CUDA
                         : PROXY_HOST;
    const enum proxy_backend_kind kind = (enum proxy_backend_kind)c->backend;
    enum wl_status status = accept(kind, c, why, sizeof why);
    if (status != WL_OK) {
        HOST_FAIL(host, "%s", why);
        return status;
    }
    CHECK(open_backend(b, kind));
    p->ops = b->of[kind].ops;
    if (asked.backend == PROXY_AUTO)
        host->note(host->ctx, "backend", p->ops->name);
    if (asked.precision == PROXY_PRECISION_AUTO) {
        c->precision = traits[kind].precision;
        host->note(host->ctx, "precision", precisions[c->precision]);
    }
    return p->ops->prepare(b->of[kind].state, c, &p->step);
}

static enum wl_status prepare(void *self, const void *cell, void **prepared)
{
    struct backends *b = self;
    struct prepared *p = calloc(1, sizeof *p);
    if (!p)
        return HOST_FAILED(b->host, "out of memory");
    p->backends = b;
    p->cell = *(const struct proxy_cell *)cell;
    enum wl_status status = prepare_step(p);
    if (status == WL_OK)
        *prepared = p;
    else
        free(p);
    return status;
}

static void release(void *prepared)
{
    struct prepared *p = prepared;
    p->ops->release(p->step);
    free(p);
}

/* Queues one iteration. Overlapped, the buckets share the GEMMs of the backward pass evenly:
 *   after   The first third of the GEMMs is the forward pass. A bucket follows its share of the rest, as
 *           in data-parallel training. No GEMM overlaps the last bucket.
 *   beside  All GEMMs are shared. A bucket begins when its share does, as if the gradients of the
 *           previous micro-batch were reduced. */
static enum wl_status queue_iteration(const struct prepared *p)
{
    const struct proxy_cell *c = &p->cell;
    const struct proxy_backend *o = p->ops;
    if (c->mode != PROXY_OVERLAPPED) {
        if (proxy_computes(c))
            CHECK(o->compute(p->step, 0, c->gemms));
        for (int64_t b = 0; proxy_communicates(c) && b < c->buckets; b++)
            CHECK(o->reduce(p->step, b));
        return o->join(p->step);
    }
    const int64_t forward = c->issue == PROXY_AFTER ? c->gemms / 3 : 0, rest = c->gemms - forward;
    CHECK(o->compute(p->step, 0, forward));
    for (int64_t b = 0; b < c->buckets; b++) {
        if (c->issue == PROXY_BESIDE)
            CHECK(o->reduce(p->step, b));
        CHECK(o->compute(p->step, forward + rest * b / c->buckets,
                         forward + rest * (b + 1) / c->buckets));
        if (c->issue == PROXY_AFTER)
            CHECK(o->reduce(p->step, b));
    }
    return o->join(p->step);
}

static enum wl_status sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    struct prepared *p = prepared;
    CHECK(p->ops->poison(p->step));
    enum wl_status status = p->ops->start(p->step, out);
    for (unsigned i = 0; i < iters; i++)
        TRY(status, queue_iteration(p));
    return p->ops->stop(p->step, iters, status, out);
}

static enum wl_status verify(void *prepared)
{
    struct prepared *p = prepared;
    return p->ops->verify(p->step);
}

/* Recorded steps, shapes of GEMMs, other collectives, CUDA graphs and symmetric memory went in 2.0. Their
 * parameters had defaults that did not enter a cell's id, so the ids are those of before. */
const struct wl_plugin wl_plugin_v1 = {
    .size = sizeof(struct wl_plugin),
    .name = "iter_proxy",
    .version = "2.0.0",
    .summary = "a training step: computation and all-reduce, alone, in turn and overlapped",
    .params = params,
    .cell_size = sizeof(struct proxy_cell),
    .metrics = metrics,
    .describe = describe,
    .open = open_plugin,
    .close = close_plugin,
    .prepare = prepare,
    .release = release,
    .sample = sample,
    .verify = verify,
    .abort = abort_plugin,
};
