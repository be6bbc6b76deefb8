/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface between iter_proxy and its backends. iter_proxy.c checks the parameters and turns
 * a cell into work (work.h). A backend prepares buffers and does the work.
 *
 * The host backend is linked into iter_proxy.so. Any other backend is a shared object,
 * iter_proxy/NAME.so, that exports one constant, proxy_backend_v1. The first cell that needs it
 * loads it, so iter_proxy.so needs no device library. The precisions, algorithms and protocols of
 * each backend are in traits.c, because a plan must work where the backend cannot be loaded.
 *
 * A backend sees the work of one iteration (struct proxy_work): GEMMs and memory-bound kernels, the
 * collectives, and the tasks that issue them. Collectives are out of place and never overwrite their
 * input. So every iteration has the same exact result, and the timed output can be checked.
 */
#pragma once

#include "common/collective.h"
#include "common/step_file.h"
#include "workload.h"

#define PROXY_BACKEND_SYMBOL "proxy_backend_v1"

enum proxy_backend_kind { PROXY_AUTO, PROXY_HOST, PROXY_CUDA };
enum proxy_precision { PROXY_PRECISION_AUTO, PROXY_FP32, PROXY_TF32, PROXY_BF16 };
enum proxy_mode {
    PROXY_MODE_COMPUTE,
    PROXY_MODE_COMM,
    PROXY_MODE_SEQUENTIAL,
    PROXY_MODE_OVERLAPPED
};
enum proxy_layout { PROXY_LAYOUT_AUTO, PROXY_NN, PROXY_NT, PROXY_TN };
enum proxy_launch { PROXY_STREAM, PROXY_GRAPH };
enum proxy_issue { PROXY_AFTER, PROXY_BESIDE };
enum proxy_algorithm {
    PROXY_ALGORITHM_AUTO,
    PROXY_RING,
    PROXY_TREE,
    PROXY_RECURSIVE_DOUBLING,
    PROXY_RABENSEIFNER,
    PROXY_NVLS
};
enum proxy_memory { PROXY_PLAIN, PROXY_SYMMETRIC };
#define PROXY_BUCKET_CAP (UINT64_C(25) << 20) /* DDP's defaults */
#define PROXY_BUCKET_FIRST (UINT64_C(1) << 20)
enum proxy_protocol { PROXY_PROTOCOL_AUTO, PROXY_LL, PROXY_LL128, PROXY_SIMPLE };

/* The parameters of one cell, filled by the runner; backend and precision are resolved (never
 * auto) when a backend sees them. */
struct proxy_cell {
    int backend;
    uint64_t size; /* gradient bytes in all, a multiple of sizeof(float) */
    int64_t buckets;
    int64_t gemm;                   /* n of one n x n x n GEMM */
    int64_t gemm_m, gemm_n, gemm_k; /* 0: gemm */
    int64_t gemms;                  /* GEMMs per iteration */
    int layout;
    int precision;
    int issue;
    char step[WL_TEXT_MAX]; /* path of a step file; "": the GEMMs and buckets above */
    int64_t batch;
    double scale;
    int launch;
    int mode;
    int algorithm;
    int protocol;
    int64_t ctas;                      /* 0: the library's choice */
    uint64_t bucket_cap, bucket_first; /* bytes; of a step's gradients */
    int collective;                    /* enum collective: the first three */
    int policy;                        /* enum nccl_policy */
    int memory;                        /* enum proxy_memory */
};

/* A GEMM (m > 0): C (m x n) = op(A) op(B), matrices stored by rows; `count` of them at once. Or a
 * memory-bound kernel (m = 0). */
struct proxy_compute {
    int m, n, k, count;
    int precision; /* enum proxy_precision, never auto */
    bool transpose_a, transpose_b;
    uint64_t bytes; /* a kernel's, read and written */
    unsigned line;  /* of the step file; 0: none */
};

/* Its buffers (collective.h) have the same place in the input and in the output. */
struct proxy_collective {
    enum collective collective;
    enum step_dtype dtype;
    uint64_t elements; /* of the larger buffer */
    uint64_t first;    /* byte of the input and of the output buffer where it begins */
    unsigned line;
};

/* One iteration as data: its tasks, in the order in which they are issued.
 *   COMPUTE  compute first .. first+n-1, on the compute queue
 *   COMM     collective `first`, on the communication queue. n 1: after the COMPUTE tasks issued so
 *            far; n 0: at once
 *   WAIT     later COMPUTE tasks wait for collectives 0 .. first
 *   JOIN     later tasks wait for all tasks issued so far, on both queues. It ends every list of
 *            tasks, and so the iteration */
enum proxy_verb { PROXY_COMPUTE, PROXY_COMM, PROXY_WAIT, PROXY_JOIN };
struct proxy_task {
    enum proxy_verb verb;
    unsigned first, n;
};

/* GEMMs write their results into the same operands, one after the other. */
struct proxy_operands {
    uint64_t a, b, c; /* elements of the largest; 0: none */
    unsigned line;    /* of the largest GEMM */
};

enum { PROXY_WIDE, PROXY_NARROW, PROXY_POOLS }; /* elements of 4 bytes, of 2 */

struct proxy_work {
    struct proxy_compute *compute;
    size_t n_compute;
    struct proxy_collective *collective;
    size_t n_collectives;
    struct proxy_task *task;
    size_t n_tasks;
    struct proxy_operands operands[PROXY_POOLS];
    uint64_t kernel_B; /* bytes that the largest kernel moves */
    uint64_t buffer_B; /* bytes of the collectives' input, and of their output */
    bool bucketed;     /* some collectives are buckets of gradients */
    uint64_t id;       /* a hash of all above but operands, before mode: ranks compare it */
};

/* Do the tasks have this verb? */
static inline bool proxy_has(const struct proxy_work *w, enum proxy_verb verb)
{
    for (size_t i = 0; i < w->n_tasks; i++)
        if (w->task[i].verb == verb)
            return true;
    return false;
}

static inline uint64_t proxy_collective_B(const struct proxy_collective *c)
{
    return c->elements * step_dtype_B(c->dtype);
}

static inline int proxy_pool(int precision)
{
    return precision == PROXY_BF16 ? PROXY_NARROW : PROXY_WIDE;
}

/* All calls are collective, in the same order on every rank. A call that does not return WL_OK has
 * said why through host->fail(). */
struct proxy_backend {
    size_t size; /* sizeof(struct proxy_backend) */
    const char *name;

    /* Once per process, when the first cell needs this backend. WL_SKIP: this machine cannot (no
     * device); backend = auto then tries the next one. `host` is valid until close(). The state owns
     * what cells share: operands, streams, and communicators of equal algorithm, protocol, ctas and
     * host->copy. */
    enum wl_status (*open)(void **state, const struct wl_host *host);
    void (*close)(void *state);

    /* One step per (config, mode); many exist at once. `cell` and `work` belong to the caller and
     * outlive the step. */
    enum wl_status (*prepare)(void *state, const struct proxy_cell *cell,
                              const struct proxy_work *work, void **step);
    void (*release)(void *step);

    /* Untimed: fills every output of the tasks with values that no correct result has. */
    enum wl_status (*poison)(void *step);
    /* Aligns the ranks, runs the tasks `iters` times and times it on this rank: values[0],
     * start_ns and end_ns. Returns when the device is idle again. */
    enum wl_status (*run)(void *step, unsigned iters, struct wl_sample *out);
    /* Checks every output that run() just wrote on this rank. */
    enum wl_status (*verify)(void *step);

    /* Optional. Called from another thread: makes a hung run() return WL_FAIL. */
    void (*abort)(void *state);
};

extern const struct proxy_backend proxy_backend_host;
