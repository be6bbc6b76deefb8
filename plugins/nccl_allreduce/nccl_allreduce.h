/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface between the two objects of nccl_allreduce. nccl_allreduce.so has the tables and
 * checks cells. It needs no CUDA, so plans work anywhere. nccl_allreduce/cuda.so measures. open()
 * loads it; it exports one constant of this type.
 */
#pragma once

#include "workload.h"

#define NCCL_BACKEND_SYMBOL "nccl_allreduce_backend_v1"

enum cell_launch { LAUNCH_GRAPH, LAUNCH_STREAM };
enum cell_buffers { BUFFERS_HOT, BUFFERS_COLD };
enum cell_metric { METRIC_T_SS, METRIC_L_ISO };

/* Operations in a steady-state sample and in one graph. Starting a graph takes a few microseconds
 * (on H200s about 10, 2.7% of 16 operations of 1 KiB). So a sample lasts SAMPLE_S, or has the largest
 * number of operations. For long operations the start does not matter: a sample has fewer of them. */
#define BACK_TO_BACK_MOST 64
#define BACK_TO_BACK_STREAM 256 /* on a stream, where more cost no capture */
#define BACK_TO_BACK 16
#define BACK_TO_BACK_LONG 4
#define SAMPLE_S 4e-3
#define LONG_SAMPLE_S 16e-3

struct nccl_cell {
    uint64_t size;
    int dtype; /* enum payload_type */
    int op;    /* 0: the sum */
    bool in_place;
    int metric;
    int launch;
    int buffers;
    int contention;          /* 0: none */
    int algorithm, protocol; /* enum nccl_algorithm, nccl_protocol */
    int64_t ctas;
    int memory; /* 0: plain, 1: ncclMemAlloc */
    int64_t hosts;
    int collective; /* enum collective */
};

/* The number of untimed operations in front of the timed ones. Hot operations need them: the first ones
 * after an idle device, and the start of the first graph, are not the steady state. Cold operations
 * must not be warmed up. */
static inline unsigned nccl_lead(const struct nccl_cell *c, unsigned iters)
{
    if (c->metric != METRIC_T_SS || c->buffers != BUFFERS_HOT)
        return 0;
    return iters < BACK_TO_BACK_MOST ? (iters + 3) / 4 : BACK_TO_BACK_MOST;
}

/* The members mean what they mean in struct wl_plugin. */
struct nccl_backend {
    size_t size;
    enum wl_status (*open)(void **self, const struct wl_host *host);
    void (*close)(void *self);
    enum wl_status (*prepare)(void *self, const void *cell, void **prepared);
    void (*release)(void *prepared);
    enum wl_status (*sample)(void *prepared, unsigned iters, struct wl_sample *out);
    enum wl_status (*verify)(void *prepared);
    void (*abort)(void *self);
};
