/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface between iter_proxy and its backends. iter_proxy.c checks the parameters and turns
 * a mode into a schedule. A backend prepares buffers and runs schedules.
 *
 * The host backend is linked into iter_proxy.so. Any other backend is a shared object,
 * iter_proxy/NAME.so, that exports one constant, proxy_backend_v1. The first cell that needs it
 * loads it, so iter_proxy.so needs no device library. The precisions, algorithms and protocols of
 * each backend are in traits.c, because a plan must work where the backend cannot be loaded.
 *
 * Gradients are float32, `size` bytes in all, cut into buckets of whole elements. The collective of a
 * bucket (an all-reduce, if the cell has no other) is out of place and never overwrites the gradient.
 * So every iteration has the same exact result, and the timed output can be checked. A bucket has
 * the buffers that collective.h describes, at its place in the gradient and in the output.
 */
#ifndef PROXY_BACKEND_H
#define PROXY_BACKEND_H

#include "common/collective.h"
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
enum proxy_protocol { PROXY_PROTOCOL_AUTO, PROXY_LL, PROXY_LL128, PROXY_SIMPLE };

/* The parameters of one cell, filled by the runner; backend and precision are resolved (never
 * auto) when a backend sees them. */
struct proxy_cell {
    int backend;
    uint64_t size; /* gradient bytes in all, a multiple of sizeof(float) */
    int64_t buckets;
    int64_t gemm;  /* n of one n x n x n GEMM */
    int64_t gemms; /* GEMMs an iteration */
    int precision;
    int issue;
    int mode;
    int algorithm;
    int protocol;
    int64_t ctas;   /* 0: the library's choice */
    int collective; /* enum collective: the first three */
    int policy;     /* enum nccl_policy */
    int memory;     /* enum proxy_memory */
};

/* One iteration as data: the tasks of one schedule, in the order in which they are issued.
 *   COMPUTE  GEMMs first .. first+n-1, on the compute queue
 *   COMM     the collective of bucket `first`, on the communication queue, not before the COMPUTE tasks
 *            issued so far have finished when `n` is 1; at once when `n` is 0
 *   JOIN     nothing issued later starts before all issued so far has finished, on both queues.
 *            Every schedule ends with one: it is the end of the iteration */
enum proxy_verb { PROXY_COMPUTE, PROXY_COMM, PROXY_JOIN };
struct proxy_task {
    enum proxy_verb verb;
    unsigned first, n;
};
struct proxy_schedule {
    const struct proxy_task *task;
    size_t n;
};

/* Elements of bucket b: [proxy_bucket(c, b), proxy_bucket(c, b + 1)). Fits: 2^38 elements, 2^16
 * buckets at most. */
static inline size_t proxy_bucket(const struct proxy_cell *c, unsigned b)
{
    return (size_t)(c->size / sizeof(float) * b / (uint64_t)c->buckets);
}

/* All calls are collective, in the same order on every rank. A call that does not return WL_OK has
 * said why through host->fail(). */
struct proxy_backend {
    size_t size; /* sizeof(struct proxy_backend) */
    const char *name;

    /* Once a process, when a cell first asks for this backend. WL_SKIP: this machine cannot (no
     * device); with backend = auto the next one is tried then. `host` lives until close(). What
     * cells share (operands of equal gemm and precision, streams, communicators of equal algorithm,
     * protocol, ctas and host->copy) belongs to the state. */
    enum wl_status (*open)(void **state, const struct wl_host *host);
    void (*close)(void *state);

    /* One instance a (config, mode); many live at once. `cell` and `schedule` are copied or owned
     * by the caller until release(): both outlive the step. */
    enum wl_status (*prepare)(void *state, const struct proxy_cell *cell,
                              const struct proxy_schedule *schedule, void **step);
    void (*release)(void *step);

    /* Untimed: fills every output that the schedule writes with what no right result holds. */
    enum wl_status (*poison)(void *step);
    /* Aligns the ranks, runs the schedule `iters` times and times it on this rank: values[0],
     * start_ns and end_ns. Returns when the device is idle again. */
    enum wl_status (*run)(void *step, unsigned iters, struct wl_sample *out);
    /* Every output that run() just wrote, on this rank. */
    enum wl_status (*verify)(void *step);

    /* Optional, from another thread: make a hung run() return WL_FAIL. */
    void (*abort)(void *state);
};

extern const struct proxy_backend proxy_backend_host;

#endif
