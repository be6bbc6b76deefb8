/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface between iter_proxy and its backends. iter_proxy.c checks the parameters and decides the
 * order of GEMMs and buckets; a backend computes and communicates.
 *
 * The host backend is linked into iter_proxy.so. The CUDA backend is a shared object,
 * iter_proxy/cuda.so, that exports one constant, proxy_backend_v2. The first cell that needs it
 * loads it, so iter_proxy.so needs no device library.
 *
 * The all-reduces are out of place and never overwrite their input. So every iteration has the same
 * exact result, and the timed output can be checked.
 */
#pragma once

#include "workload.h"

#define PROXY_BACKEND_SYMBOL "proxy_backend_v2"

enum proxy_backend_kind { PROXY_AUTO, PROXY_HOST, PROXY_CUDA, PROXY_BACKENDS };
enum proxy_precision { PROXY_PRECISION_AUTO, PROXY_FP32, PROXY_TF32, PROXY_BF16 };
enum proxy_mode { PROXY_COMPUTE, PROXY_COMM, PROXY_SEQUENTIAL, PROXY_OVERLAPPED };
enum proxy_issue { PROXY_AFTER, PROXY_BESIDE };
enum proxy_algorithm { PROXY_ALGORITHM_AUTO, PROXY_RING, PROXY_TREE, PROXY_NVLS };
enum proxy_protocol { PROXY_PROTOCOL_AUTO, PROXY_LL, PROXY_LL128, PROXY_SIMPLE };

/* The parameters of one cell, filled by the runner; backend and precision are resolved (never
 * auto) when a backend sees them. */
struct proxy_cell {
    int backend;
    uint64_t size; /* gradient bytes in all, a multiple of sizeof(float) */
    int64_t buckets;
    int64_t gemm;  /* n of one n x n x n GEMM */
    int64_t gemms; /* GEMMs per iteration */
    int precision;
    int issue;
    int mode;
    int algorithm;
    int protocol;
    int64_t ctas; /* 0: the library's choice */
};

static inline bool proxy_computes(const struct proxy_cell *c)
{
    return c->mode != PROXY_COMM;
}

static inline bool proxy_communicates(const struct proxy_cell *c)
{
    return c->mode != PROXY_COMPUTE;
}

/* The first float of bucket b; that of bucket `buckets` is the end of the gradient. Fits: 2^38 elements
 * and 2^16 buckets at most. */
static inline uint64_t proxy_bucket(const struct proxy_cell *c, int64_t b)
{
    return c->size / sizeof(float) * (uint64_t)b / (uint64_t)c->buckets;
}

/* All calls but close(), release() and abort() are made on every rank, in the same order. A call that
 * does not return WL_OK has given its reason by host->fail(). */
struct proxy_backend {
    size_t size; /* sizeof(struct proxy_backend) */
    const char *name;

    /* Once per process, when the first cell needs this backend. WL_SKIP: this machine cannot (no
     * device); backend = auto then tries the next one. `host` is valid until close(). The state owns
     * what cells share: operands, streams, and communicators of equal algorithm, protocol, ctas and
     * host->copy. */
    enum wl_status (*open)(void **state, const struct wl_host *host);
    void (*close)(void *state);

    /* One step per config and mode; many exist at once. `cell` outlives the step. */
    enum wl_status (*prepare)(void *state, const struct proxy_cell *cell, void **step);
    void (*release)(void *step);

    /* Untimed: fills every output with values that no correct result has. */
    enum wl_status (*poison)(void *step);
    /* Aligns the ranks and starts the clock. */
    enum wl_status (*start)(void *step, struct wl_sample *out);
    /* Queues GEMMs first .. end-1, behind those that are queued. */
    enum wl_status (*compute)(void *step, int64_t first, int64_t end);
    /* Queues the all-reduce of bucket b, behind the GEMMs and buckets that are queued. */
    enum wl_status (*reduce)(void *step, int64_t b);
    /* What is queued later waits for all that is queued now. */
    enum wl_status (*join)(void *step);
    /* Waits until everything is done, and stops the clock: values[0], start_ns and end_ns. `status` is
     * that of the calls above: after a failure, stop() says what it means for this process. */
    enum wl_status (*stop)(void *step, unsigned iters, enum wl_status status,
                           struct wl_sample *out);
    /* Checks every output of the last sample on this rank. */
    enum wl_status (*verify)(void *step);

    /* Optional. Called from another thread: makes a hung stop() return WL_FAIL. */
    void (*abort)(void *state);
};

extern const struct proxy_backend proxy_backend_host;
