/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/traits.h"

#include "common/collective.h"
#include "common/host.h"

#include <limits.h>
#include <stdio.h>

const char *const proxy_backends[] = {
    [PROXY_AUTO] = "auto", [PROXY_HOST] = "host", [PROXY_CUDA] = "cuda", NULL};
const char *const proxy_precisions[] = {[PROXY_PRECISION_AUTO] = "auto",
                                        [PROXY_FP32] = "fp32",
                                        [PROXY_TF32] = "tf32",
                                        [PROXY_BF16] = "bf16",
                                        NULL};
const char *const proxy_modes[] = {[PROXY_MODE_COMPUTE] = "compute",
                                   [PROXY_MODE_COMM] = "comm",
                                   [PROXY_MODE_SEQUENTIAL] = "sequential",
                                   [PROXY_MODE_OVERLAPPED] = "overlapped",
                                   NULL};
const char *const proxy_layouts[] = {
    [PROXY_LAYOUT_AUTO] = "auto", [PROXY_NN] = "nn", [PROXY_NT] = "nt", [PROXY_TN] = "tn", NULL};
const char *const proxy_launches[] = {[PROXY_STREAM] = "stream", [PROXY_GRAPH] = "graph", NULL};
const char *const proxy_issues[] = {[PROXY_AFTER] = "after", [PROXY_BESIDE] = "beside", NULL};
const char *const proxy_algorithms[] = {[PROXY_ALGORITHM_AUTO] = "auto",
                                        [PROXY_RING] = "ring",
                                        [PROXY_TREE] = "tree",
                                        [PROXY_RECURSIVE_DOUBLING] = "recursive_doubling",
                                        [PROXY_RABENSEIFNER] = "rabenseifner",
                                        [PROXY_NVLS] = "nvls",
                                        NULL};
const char *const proxy_protocols[] = {[PROXY_PROTOCOL_AUTO] = "auto",
                                       [PROXY_LL] = "LL",
                                       [PROXY_LL128] = "LL128",
                                       [PROXY_SIMPLE] = "Simple",
                                       NULL};

const char *const proxy_collectives[] = {[COLLECTIVE_ALLREDUCE] = "allreduce",
                                         [COLLECTIVE_ALLGATHER] = "allgather",
                                         [COLLECTIVE_REDUCESCATTER] = "reducescatter",
                                         NULL};
const char *const proxy_policies[] = {"default", "efficiency", "zero", NULL};
const char *const proxy_memories[] = {
    [PROXY_PLAIN] = "plain", [PROXY_SYMMETRIC] = "symmetric", NULL};

#define BIT(x) (1u << (x))

/* Rates are rough, for plans alone. */
static const struct trait {
    unsigned precisions, algorithms, protocols, policies, memories, launches;
    unsigned scatter_algorithms; /* of all-gather and reduce-scatter */
    int64_t ctas_max;
    int precision; /* that `auto` means */
    bool on_device;
    double flop_per_s, bytes_per_s, memory_B_per_s;
} traits[] = {
    [PROXY_HOST] = {.precisions = BIT(PROXY_FP32),
                    .algorithms = BIT(PROXY_ALGORITHM_AUTO) | BIT(PROXY_RING) | BIT(PROXY_TREE) |
                                  BIT(PROXY_RECURSIVE_DOUBLING) | BIT(PROXY_RABENSEIFNER),
                    .scatter_algorithms = BIT(PROXY_ALGORITHM_AUTO),
                    .protocols = BIT(PROXY_PROTOCOL_AUTO),
                    .policies = BIT(0),
                    .memories = BIT(PROXY_PLAIN),
                    .launches = BIT(PROXY_STREAM),
                    .precision = PROXY_FP32,
                    .flop_per_s = 5e10,
                    .bytes_per_s = 2e9,
                    .memory_B_per_s = 1e10},
    [PROXY_CUDA] = {.precisions = BIT(PROXY_FP32) | BIT(PROXY_TF32) | BIT(PROXY_BF16),
                    .algorithms = BIT(PROXY_ALGORITHM_AUTO) | BIT(PROXY_RING) | BIT(PROXY_TREE) |
                                  BIT(PROXY_NVLS),
                    .protocols = BIT(PROXY_PROTOCOL_AUTO) | BIT(PROXY_LL) | BIT(PROXY_LL128) |
                                 BIT(PROXY_SIMPLE),
                    .scatter_algorithms =
                        BIT(PROXY_ALGORITHM_AUTO) | BIT(PROXY_RING) | BIT(PROXY_NVLS),
                    .policies = BIT(0) | BIT(1) | BIT(2),
                    .memories = BIT(PROXY_PLAIN) | BIT(PROXY_SYMMETRIC),
                    .launches = BIT(PROXY_STREAM) | BIT(PROXY_GRAPH),
                    .ctas_max = 64,
                    .precision = PROXY_TF32,
                    .on_device = true,
                    .flop_per_s = 3e14,
                    .bytes_per_s = 2e11,
                    .memory_B_per_s = 3e12},
};

/* "auto, ring, tree": the names whose bits are set. */
static void list(unsigned bits, const char *const *names, char *out, size_t n)
{
    size_t at = 0;
    out[0] = '\0';
    for (int i = 0; names[i]; i++)
        if (bits & BIT(i) && at < n)
            at += (size_t)snprintf(out + at, n - at, "%s%s", at ? ", " : "", names[i]);
}

enum wl_status traits_accept(enum proxy_backend_kind kind, const struct proxy_cell *cell, char *why,
                             size_t n)
{
    const struct trait *t = &traits[kind];
    const struct {
        const char *key;
        int value;
        unsigned allowed;
        const char *const *names;
    } choice[] = {
        {"precision", cell->precision, t->precisions | BIT(PROXY_PRECISION_AUTO), proxy_precisions},
        {"algorithm", cell->algorithm, t->algorithms, proxy_algorithms},
        {"protocol", cell->protocol, t->protocols, proxy_protocols},
        {"policy", cell->policy, t->policies, proxy_policies},
        {"memory", cell->memory, t->memories, proxy_memories},
        {"launch", cell->launch, t->launches, proxy_launches},
    };
    for (size_t i = 0; i < sizeof choice / sizeof *choice; i++) {
        if (choice[i].allowed & BIT(choice[i].value))
            continue;
        char allowed[128];
        list(choice[i].allowed, choice[i].names, allowed, sizeof allowed);
        snprintf(why, n, "backend=%s has no %s=%s (%s)", proxy_backends[kind], choice[i].key,
                 choice[i].names[choice[i].value], allowed);
        return WL_SKIP;
    }
    if (cell->ctas > t->ctas_max)
        return HOST_WHY(WL_SKIP, why, n, "backend=%s has no ctas=%lld (0..%lld)",
                        proxy_backends[kind], (long long)cell->ctas, (long long)t->ctas_max);
    if (kind == PROXY_HOST && cell->collective && cell->algorithm)
        return HOST_WHY(WL_SKIP, why, n,
                        "algorithm=%s is an all-reduce: use algorithm=auto with collective=%s",
                        proxy_algorithms[cell->algorithm], proxy_collectives[cell->collective]);
    return WL_OK;
}

enum wl_status traits_accept_work(enum proxy_backend_kind kind, const struct proxy_cell *cell,
                                  const struct proxy_work *w, char *why, size_t n)
{
    const unsigned allowed = traits[kind].scatter_algorithms;
    char names[128];
    if (cell->step[0] && !w->bucketed &&
        (cell->bucket_cap != PROXY_BUCKET_CAP || cell->bucket_first != PROXY_BUCKET_FIRST))
        return HOST_WHY(WL_SKIP, why, n,
                        "%s has no gradient lines: bucket_cap and bucket_first change nothing",
                        cell->step);
    if (!cell->step[0] || allowed & BIT(cell->algorithm))
        return WL_OK;
    for (size_t i = 0; i < w->n_collectives; i++) {
        if (w->collective[i].collective == COLLECTIVE_ALLREDUCE)
            continue;
        list(allowed, proxy_algorithms, names, sizeof names);
        snprintf(why, n,
                 "%s:%u: backend=%s has no all-gather or reduce-scatter by algorithm=%s (%s)",
                 cell->step, w->collective[i].line, proxy_backends[kind],
                 proxy_algorithms[cell->algorithm], names);
        return WL_SKIP;
    }
    return WL_OK;
}

int traits_step_precision(enum proxy_backend_kind kind, int precision)
{
    return traits[kind].precisions & BIT(precision) ? precision : traits[kind].precision;
}

int traits_precision(enum proxy_backend_kind kind, int precision)
{
    return precision == PROXY_PRECISION_AUTO ? traits[kind].precision : precision;
}

static uint64_t operands_B(const struct proxy_work *w)
{
    uint64_t bytes = w->kernel_B;
    for (int pool = 0; pool < PROXY_POOLS; pool++) {
        const struct proxy_operands *o = &w->operands[pool];
        bytes += (o->a + o->b + o->c) * (pool == PROXY_NARROW ? 2 : 4);
    }
    return bytes;
}

/* On a device the steps of a group share one set of operands, and those with equal buckets one
 * gradient: the config that is all default counts them, in the modes that may stand alone. So do the
 * modes of a config with its communicator. */
static uint64_t shared_B(const struct proxy_cell *cell, const struct proxy_work *w)
{
    if (cell->mode == PROXY_MODE_SEQUENTIAL)
        return 0;
    bool library =
        !cell->algorithm && !cell->protocol && !cell->ctas && !cell->policy && !cell->memory;
    bool buckets = cell->bucket_cap == PROXY_BUCKET_CAP && cell->bucket_first == PROXY_BUCKET_FIRST;
    bool communicates = cell->mode != PROXY_MODE_COMPUTE;
    uint64_t bytes = communicates && (!library || buckets) ? COMM_MEMORY_B : 0;
    if (library && buckets && cell->mode != PROXY_MODE_COMM)
        bytes += operands_B(w);
    if (library && communicates)
        bytes += 2 * w->buffer_B;
    return bytes;
}

static double compute_s(const struct trait *t, const struct proxy_work *w)
{
    double s = 0;
    for (size_t i = 0; i < w->n_compute; i++) {
        const struct proxy_compute *c = &w->compute[i];
        double flop = 2.0 * c->m * c->n * c->k * c->count;
        s += flop / t->flop_per_s + (double)c->bytes / t->memory_B_per_s;
    }
    return s;
}

/* Bytes that one rank sends. */
static double sent_B(const struct proxy_work *w, int ranks)
{
    double bytes = 0;
    for (size_t i = 0; i < w->n_collectives; i++) {
        const struct proxy_collective *c = &w->collective[i];
        bytes += (double)proxy_collective_B(c) * collective_busbw_factor(c->collective, ranks);
    }
    return bytes;
}

static uint64_t scratch_most_B(const struct proxy_work *w)
{
    uint64_t most = 0;
    for (size_t i = 0; i < w->n_collectives; i++)
        if (w->collective[i].elements > most)
            most = w->collective[i].elements;
    return most * sizeof(float);
}

static uint64_t payload_B(const struct proxy_work *w)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < w->n_collectives; i++)
        bytes += proxy_collective_B(&w->collective[i]);
    return bytes;
}

void traits_cost(enum proxy_backend_kind kind, const struct proxy_cell *cell,
                 const struct proxy_work *w, int ranks, struct wl_shape *shape)
{
    const struct trait *t = &traits[kind];
    bool computes = cell->mode != PROXY_MODE_COMM, communicates = cell->mode != PROXY_MODE_COMPUTE;
    double sent = sent_B(w, ranks);
    if (t->on_device)
        shape->device_B += shared_B(cell, w);
    else
        shape->host_B += (computes ? operands_B(w) : 0) +
                         (communicates ? 2 * w->buffer_B + scratch_most_B(w) : 0);
    shape->iteration_s =
        (computes ? compute_s(t, w) : 0) + (communicates ? sent / t->bytes_per_s : 0);
    shape->size_B = payload_B(w);
    shape->busbw_factor = cell->mode == PROXY_MODE_COMM ? sent / (double)shape->size_B : 0;
}

/* ==== parameters that fit each other, with any backend ==== */

/* The first parameter that the other kind of cell has, and this cell sets; or NULL. */
static const char *foreign(const struct proxy_cell *c)
{
    const struct {
        const char *name;
        bool step, set;
    } parameters[] = {
        {"size", false, c->size != UINT64_C(16) << 20},
        {"buckets", false, c->buckets != 4},
        {"gemm", false, c->gemm != 256},
        {"gemm_m", false, c->gemm_m},
        {"gemm_n", false, c->gemm_n},
        {"gemm_k", false, c->gemm_k},
        {"gemms", false, c->gemms != 12},
        {"layout", false, c->layout},
        {"precision", false, c->precision},
        {"issue", false, c->issue},
        {"collective", false, c->collective},
        {"batch", true, c->batch != 1},
        {"scale", true, c->scale < 1},
        {"bucket_cap", true, c->bucket_cap != PROXY_BUCKET_CAP},
        {"bucket_first", true, c->bucket_first != PROXY_BUCKET_FIRST},
    };
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (parameters[i].set && parameters[i].step != (c->step[0] != 0))
            return parameters[i].name;
    return NULL;
}

static enum wl_status judge_size(const struct proxy_cell *c, const struct wl_job *job, char *why,
                                 size_t n)
{
    uint64_t count = c->size / sizeof(float);
    if (c->size == 0 || c->size % sizeof(float) != 0)
        return HOST_WHY(WL_FAIL, why, n, "size=%llu is not a multiple of the %zu bytes of float32",
                        (unsigned long long)c->size, sizeof(float));
    if (c->collective && count % ((uint64_t)c->buckets * (uint64_t)job->ranks) != 0)
        return HOST_WHY(
            WL_FAIL, why, n,
            "size=%llu does not divide into buckets=%lld of one block for each of the %d "
            "ranks, as collective=%s needs: use a multiple of %llu",
            (unsigned long long)c->size, (long long)c->buckets, job->ranks,
            proxy_collectives[c->collective],
            (unsigned long long)c->buckets * (unsigned)job->ranks * sizeof(float));
    if (count < (uint64_t)c->buckets)
        return HOST_WHY(WL_FAIL, why, n, "buckets=%lld is more than the %llu elements of size=%llu",
                        (long long)c->buckets, (unsigned long long)count,
                        (unsigned long long)c->size);
    if (count / (uint64_t)c->buckets >= INT_MAX)
        return HOST_WHY(WL_FAIL, why, n,
                        "size=%llu in buckets=%lld is more than %d elements per bucket",
                        (unsigned long long)c->size, (long long)c->buckets, INT_MAX);
    return WL_OK;
}

enum wl_status traits_judge(const struct proxy_cell *c, const struct wl_job *job, char *why,
                            size_t n)
{
    const char *name = foreign(c);
    if (job->ranks < 2 && c->mode != PROXY_MODE_COMPUTE)
        return HOST_WHY(WL_FAIL, why, n,
                        "ranks=%d: a collective needs at least 2 (mode=compute needs 1)",
                        job->ranks);
    if (name && c->step[0])
        snprintf(why, n,
                 "step=%s has GEMMs and gradients of its own: remove %s, or give it a "
                 "section without step",
                 c->step, name);
    else if (name)
        snprintf(why, n, "%s is for a recorded step: give step, or remove it", name);
    if (name)
        return WL_FAIL;
    return judge_size(c, job, why, n);
}
