/* SPDX-License-Identifier: Apache-2.0
 *
 * iter_proxy: one training step as GEMMs and gradient buckets, synthetic or recorded in a file, so
 * that the cost of communication can be told apart: mode = compute (A), comm (B), sequential (C),
 * overlapped (D), all in the same blocks. Exposed communication is D - A; overlap is
 * (C - D) / min(A, B).
 *
 * A backend computes and communicates (backend.h). work.c turns a cell into work. traits.c
 * lists what makes no cell, and what a backend accepts.
 */
#include "common/host.h"
#include "iter_proxy/traits.h"
#include "iter_proxy/work.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define BACKEND_KINDS 3 /* by enum proxy_backend_kind; PROXY_AUTO stays empty */

struct backend {
    const struct proxy_backend *ops;
    void *library; /* NULL: linked in */
    void *state;
    _Atomic bool open; /* abort() comes from another thread */
    bool refused;      /* could not be opened here */
};

struct backends {
    const struct wl_host *host;
    struct backend of[BACKEND_KINDS];
};

struct prepared {
    struct backends *backends;
    const struct proxy_backend *ops;
    struct proxy_cell cell;
    struct proxy_work work;
    void *step;
};

#define TEXT(member) #member, WL_TEXT, WL_AXIS, WL_TEXT_FIELD(struct proxy_cell, member)
#define P(member, type, role, ctype) #member, type, role, WL_FIELD(struct proxy_cell, member, ctype)
/* clang-format off */
static const struct wl_param params[] = {
    {P(backend, WL_CHOICE, WL_AXIS, int), NULL, "auto", 0, 0, proxy_backends,
     "host: BLAS and MPI; cuda: cuBLAS and NCCL; auto: cuda if there is a GPU"},
    {P(size, WL_SIZE, WL_AXIS, uint64_t), "B", "16MiB", 4, 1ull << 40, NULL,
     "bytes of the gradient on one rank, all buckets, float32"},
    {P(buckets, WL_INT, WL_AXIS, int64_t), NULL, "4", 1, 1 << 16, NULL,
     "number of equal buckets, communicated one after the other"},
    {P(gemm, WL_INT, WL_AXIS, int64_t), NULL, "256", 1, 1 << 15, NULL,
     "dimension n of each n x n x n GEMM"},
    {P(gemm_m, WL_INT, WL_AXIS, int64_t), NULL, "0", 0, 1 << 20, NULL,
     "rows of each GEMM's result; 0: gemm"},
    {P(gemm_n, WL_INT, WL_AXIS, int64_t), NULL, "0", 0, 1 << 20, NULL,
     "columns of each GEMM's result; 0: gemm"},
    {P(gemm_k, WL_INT, WL_AXIS, int64_t), NULL, "0", 0, 1 << 20, NULL,
     "terms of each element of a GEMM's result; 0: gemm"},
    {P(gemms, WL_INT, WL_AXIS, int64_t), NULL, "12", 1, 1 << 20, NULL,
     "number of GEMMs in a step, forward and backward"},
    {P(layout, WL_CHOICE, WL_AXIS, int), NULL, "auto", 0, 0, proxy_layouts,
     "which operand of each GEMM is transposed; matrices are stored by rows; auto: host nn; cuda nn "
     "forward, tn and nt backward"},
    {P(precision, WL_CHOICE, WL_AXIS, int), NULL, "auto", 0, 0, proxy_precisions,
     "precision of the GEMMs; host: fp32; cuda: fp32, tf32 (auto), bf16"},
    {P(issue, WL_CHOICE, WL_AXIS, int), NULL, "after", 0, 0, proxy_issues,
     "when overlapped, start a bucket after or beside its share of the backward GEMMs"},
    {TEXT(step), NULL, "", 0, 0, NULL,
     "path of a recorded step, e.g. configs/steps/gpt2-124m-ddp.step (docs/steps.md); it replaces "
     "the GEMMs and the gradient above"},
    {P(batch, WL_INT, WL_AXIS, int64_t), NULL, "1", 1, 1 << 20, NULL,
     "multiplies the numbers of a step that are marked with *"},
    {P(scale, WL_REAL, WL_AXIS, double), NULL, "1", 0.001, 1, NULL,
     "shrinks a step: dimensions by this factor, elements and bytes by its square"},
    {P(launch, WL_CHOICE, WL_AXIS, int), NULL, "stream", 0, 0, proxy_launches,
     "stream: launch each kernel; graph: replay a CUDA graph; host: stream only"},
    {P(mode, WL_CHOICE, WL_MODE, int), NULL, "overlapped", 0, 0, proxy_modes,
     "compute: GEMMs alone; comm: communication alone; sequential: one after the other; "
     "overlapped: both at once"},
    {P(algorithm, WL_CHOICE, WL_CONFIG, int), NULL, "auto", 0, 0, proxy_algorithms,
     "algorithm of the collective; auto: the library chooses"},
    {P(protocol, WL_CHOICE, WL_CONFIG, int), NULL, "auto", 0, 0, proxy_protocols,
     "NCCL's protocol; host: auto only"},
    {P(ctas, WL_INT, WL_CONFIG, int64_t), NULL, "0", 0, 64, NULL,
     "exact number of NCCL's CTAs; 0: NCCL chooses; host: 0 only"},
    {P(bucket_cap, WL_SIZE, WL_CONFIG, uint64_t), "B", "25MiB", 1, 1ull << 40, NULL,
     "a step's bucket is full at this size, as DDP's bucket_cap_mb"},
    {P(bucket_first, WL_SIZE, WL_CONFIG, uint64_t), "B", "1MiB", 1, 1ull << 40, NULL,
     "a step's first bucket is full at this size"},
    {P(collective, WL_CHOICE, WL_AXIS, int), NULL, "allreduce", 0, 0, proxy_collectives,
     "the collective of each bucket; a bucket is the larger buffer, as in nccl-tests"},
    {P(policy, WL_CHOICE, WL_CONFIG, int), NULL, "default", 0, 0, proxy_policies,
     "NCCL's CTA policy; efficiency: few CTAs (NCCL 2.27); zero: copy engines, for an all-gather "
     "of symmetric memory (2.28)"},
    {P(memory, WL_CHOICE, WL_CONFIG, int), NULL, "plain", 0, 0, proxy_memories,
     "symmetric: the gradient is in windows that NCCL registers (NCCL 2.27); host: plain only"},
    {0}};
/* clang-format on */

static const char *const added[] = {"collective", "policy",     "memory",       "gemm_m", "gemm_n",
                                    "gemm_k",     "layout",     "step",         "batch",  "scale",
                                    "launch",     "bucket_cap", "bucket_first", NULL};

static const struct wl_metric metrics[] = {{"time", "s", "one iteration", WL_MAX}, {0}};

/* ==== what a cell is ==== */

/* Adds the cost of each backend that may be meant; with auto, both. */
static enum wl_status describe_backends(const struct proxy_cell *c, const struct wl_job *job,
                                        struct wl_shape *shape, char *why, size_t n)
{
    enum wl_status best = WL_SKIP;
    for (int k = PROXY_CUDA; k >= PROXY_HOST; k--) {
        enum proxy_backend_kind kind = (enum proxy_backend_kind)k;
        const struct work_request q = {c, kind, job->ranks, why, n};
        struct proxy_work work;
        if (c->backend != PROXY_AUTO && c->backend != k)
            continue;
        if (work_make(&work, &q) != WL_OK)
            return WL_FAIL;
        traits_cost(kind, c, &work, job->ranks, shape);
        if (traits_accept(kind, c, why, n) == WL_OK &&
            traits_accept_work(kind, c, &work, why, n) == WL_OK)
            best = WL_OK;
        work_free(&work);
    }
    return best;
}

static enum wl_status describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                               char *why, size_t why_size)
{
    const struct proxy_cell *c = cell;
    CHECK(traits_judge(c, job, why, why_size));
    shape->config_free = c->mode == PROXY_MODE_COMPUTE;
    shape->iters_min = 1;
    return describe_backends(c, job, shape, why, why_size);
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

static enum wl_status load(struct backend *at, enum proxy_backend_kind kind, char *why, size_t n)
{
    struct host_backend so;
    char told[400];
    if (kind == PROXY_HOST) {
        at->ops = &proxy_backend_host;
        return WL_OK;
    }
    enum wl_status status = host_backend(&so, proxy_backends[kind], PROXY_BACKEND_SYMBOL,
                                         sizeof(struct proxy_backend), told, sizeof told);
    if (status != WL_OK)
        snprintf(why, n, "backend=%s%s: %s", proxy_backends[kind],
                 status == WL_SKIP ? " is not here" : "", told);
    at->library = so.library;
    at->ops = so.ops;
    return status;
}

/* Opens this backend on every rank. All ranks get the same status; host->fail() has the reason. */
static enum wl_status backends_use(struct backends *b, enum proxy_backend_kind kind)
{
    struct backend *at = &b->of[kind];
    char why[512] = "";
    if (at->open)
        return WL_OK;
    enum wl_status status = host_agree(b->host, load(at, kind, why, sizeof why), why);
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

/* ==== the plugin's life ==== */

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
    for (int i = 0; i < BACKEND_KINDS; i++)
        shut(&b->of[i]);
    free(b);
}

static enum wl_status use(struct backends *b, struct proxy_cell *c, enum proxy_backend_kind kind)
{
    char why[256];
    enum wl_status status = traits_accept(kind, c, why, sizeof why);
    if (status != WL_OK) {
        HOST_FAIL(b->host, "%s", why);
        return status;
    }
    CHECK(backends_use(b, kind));
    c->backend = (int)kind;
    c->precision = traits_precision(kind, c->precision);
    return WL_OK;
}

/* auto: the GPU if there is one, and the host otherwise: never the one for some configs of a
 * comparison and the other for the rest because of what they accept. */
static enum wl_status choose(struct backends *b, struct proxy_cell *c)
{
    if (c->backend != PROXY_AUTO)
        return use(b, c, (enum proxy_backend_kind)c->backend);
    if (!b->of[PROXY_CUDA].refused && backends_use(b, PROXY_CUDA) == WL_OK)
        return use(b, c, PROXY_CUDA);
    return use(b, c, PROXY_HOST);
}

static void release(void *prepared)
{
    struct prepared *p = prepared;
    if (p->step)
        p->ops->release(p->step);
    work_free(&p->work);
    free(p);
}

/* What "auto" came to, and what the step file came to; the rest stands in the parameters. */
static void note_chosen(const struct wl_host *host, const struct proxy_cell *asked,
                        const struct prepared *p)
{
    const struct proxy_work *w = &p->work;
    char text[96];
    if (asked->backend == PROXY_AUTO)
        host->note(host->ctx, "backend", p->ops->name);
    if (asked->precision == PROXY_PRECISION_AUTO && !asked->step[0])
        host->note(host->ctx, "precision", proxy_precisions[p->cell.precision]);
    if (!asked->step[0])
        return;
    snprintf(text, sizeof text, "%zu GEMMs and kernels, %zu collectives, id %016llx", w->n_compute,
             w->n_collectives, (unsigned long long)w->id);
    host->note(host->ctx, "step", text);
}

static enum wl_status make_work(struct prepared *p)
{
    struct backends *b = p->backends;
    enum proxy_backend_kind kind = (enum proxy_backend_kind)p->cell.backend;
    char why[512];
    const struct work_request q = {&p->cell, kind, b->host->ranks, why, sizeof why};
    enum wl_status status = work_make(&p->work, &q);
    TRY(status, traits_accept_work(kind, &p->cell, &p->work, why, sizeof why));
    uint64_t id = status == WL_OK ? p->work.id : 0, first = id;
    b->host->bcast(b->host->ctx, &first, sizeof first, 0);
    if (status == WL_OK && id != first) {
        status = WL_FAIL;
        snprintf(why, sizeof why, "%s is not the same file on rank %d as on rank 0", p->cell.step,
                 b->host->rank);
    }
    return host_agree(b->host, status, why);
}

static enum wl_status prepare_step(struct prepared *p)
{
    struct backends *b = p->backends;
    const struct proxy_cell asked = p->cell;
    CHECK(choose(b, &p->cell));
    CHECK(make_work(p));
    struct backend *backend = &b->of[p->cell.backend];
    p->ops = backend->ops;
    note_chosen(b->host, &asked, p);
    return p->ops->prepare(backend->state, &p->cell, &p->work, &p->step);
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
    if (status != WL_OK) {
        p->step = NULL;
        release(p);
        return status;
    }
    *prepared = p;
    return WL_OK;
}

static enum wl_status sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    struct prepared *p = prepared;
    CHECK(p->ops->poison(p->step));
    return p->ops->run(p->step, iters, out);
}

static enum wl_status verify(void *prepared)
{
    struct prepared *p = prepared;
    return p->ops->verify(p->step);
}

static void abort_plugin(void *self)
{
    struct backends *b = self;
    for (int i = 0; i < BACKEND_KINDS; i++)
        if (b->of[i].open && b->of[i].ops->abort)
            b->of[i].ops->abort(b->of[i].state);
}

const struct wl_plugin wl_plugin_v1 = {
    .size = sizeof(struct wl_plugin),
    .name = "iter_proxy",
    .version = "1.1.0",
    .summary = "a training step: computation and collectives, alone, in turn and overlapped",
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
    .added = added,
};
