/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/traits.h"

#include "common/comm_memory.h"

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
    unsigned precisions, algorithms, protocols, policies, memories;
    int64_t ctas_max;
    int precision; /* that `auto` means */
    bool on_device;
    double flop_per_s, bytes_per_s;
} traits[] = {
    [PROXY_HOST] = {.precisions = BIT(PROXY_FP32),
                    .algorithms = BIT(PROXY_ALGORITHM_AUTO) | BIT(PROXY_RING) | BIT(PROXY_TREE) |
                                  BIT(PROXY_RECURSIVE_DOUBLING) | BIT(PROXY_RABENSEIFNER),
                    .protocols = BIT(PROXY_PROTOCOL_AUTO),
                    .policies = BIT(0),
                    .memories = BIT(PROXY_PLAIN),
                    .precision = PROXY_FP32,
                    .flop_per_s = 5e10,
                    .bytes_per_s = 2e9},
    [PROXY_CUDA] = {.precisions = BIT(PROXY_FP32) | BIT(PROXY_TF32) | BIT(PROXY_BF16),
                    .algorithms = BIT(PROXY_ALGORITHM_AUTO) | BIT(PROXY_RING) | BIT(PROXY_TREE) |
                                  BIT(PROXY_NVLS),
                    .protocols = BIT(PROXY_PROTOCOL_AUTO) | BIT(PROXY_LL) | BIT(PROXY_LL128) |
                                 BIT(PROXY_SIMPLE),
                    .policies = BIT(0) | BIT(1) | BIT(2),
                    .memories = BIT(PROXY_PLAIN) | BIT(PROXY_SYMMETRIC),
                    .ctas_max = 64,
                    .precision = PROXY_TF32,
                    .on_device = true,
                    .flop_per_s = 3e14,
                    .bytes_per_s = 2e11},
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
    if (cell->ctas > t->ctas_max) {
        snprintf(why, n, "backend=%s has no ctas=%lld (0..%lld)", proxy_backends[kind],
                 (long long)cell->ctas, (long long)t->ctas_max);
        return WL_SKIP;
    }
    if (kind == PROXY_HOST && cell->collective && cell->algorithm) {
        snprintf(why, n, "algorithm=%s is an all-reduce: use algorithm=auto with collective=%s",
                 proxy_algorithms[cell->algorithm], proxy_collectives[cell->collective]);
        return WL_SKIP;
    }
    return WL_OK;
}

int traits_precision(enum proxy_backend_kind kind, int precision)
{
    return precision == PROXY_PRECISION_AUTO ? traits[kind].precision : precision;
}

/* On a device the steps of a group share one gradient and one set of operands: those of the config
 * that is all default count them, in the modes that may stand alone. So do the modes of a config
 * with its communicator. */
static uint64_t shared_B(const struct proxy_cell *cell, uint64_t operands, uint64_t buckets)
{
    if (cell->mode == PROXY_MODE_SEQUENTIAL)
        return 0;
    uint64_t communicator = cell->mode != PROXY_MODE_COMPUTE ? COMM_MEMORY_B : 0;
    if (cell->algorithm || cell->protocol || cell->ctas || cell->policy || cell->memory)
        return communicator;
    return communicator + (cell->mode != PROXY_MODE_COMM ? operands : 0) +
           (cell->mode != PROXY_MODE_COMPUTE ? buckets : 0);
}

void traits_cost(enum proxy_backend_kind kind, const struct proxy_cell *cell,
                 const struct wl_job *job, struct wl_shape *shape)
{
    const struct trait *t = &traits[kind];
    double n = (double)cell->gemm;
    double compute_s = 2 * n * n * n * (double)cell->gemms / t->flop_per_s;
    double comm_s = (double)cell->size *
                    collective_busbw_factor((enum collective)cell->collective, job->ranks) /
                    t->bytes_per_s;
    uint64_t operands = 3 * (uint64_t)cell->gemm * (uint64_t)cell->gemm * sizeof(float);
    uint64_t buckets = 2 * cell->size, bucket = cell->size / (uint64_t)cell->buckets;
    bool computes = cell->mode != PROXY_MODE_COMM, communicates = cell->mode != PROXY_MODE_COMPUTE;
    if (t->on_device)
        shape->device_B += shared_B(cell, operands, buckets);
    else
        shape->host_B += (computes ? operands : 0) + (communicates ? buckets + bucket : 0);
    shape->iteration_s = (computes ? compute_s : 0) + (communicates ? comm_s : 0);
}
