/* SPDX-License-Identifier: Apache-2.0
 *
 * The binary interface between NCCL and a profiler plugin, versions 2 to 5, as far as it is used
 * here. Written from the definitions in NCCL's sources (src/include/plugin/profiler/), which are
 * Copyright NVIDIA CORPORATION & AFFILIATES, licensed under Apache-2.0 and BSD-3-Clause; see
 * LICENSE.txt of NCCL.
 *
 * NCCL takes the newest symbol that it knows: 2.24 and 2.25 v2, 2.26 v3, 2.27 v4, from 2.28 on v5.
 * In each thread, `init` of a communicator comes before the tuner's. NCCL starts an event for each
 * collective after it has asked the tuner about it. Before v4 the event has the number of channels
 * that was requested, not the number that runs.
 */
#pragma once

#include "nccl_tuner/nccl_abi.h"

#include <stdbool.h>

enum nccl_event {
    NCCL_EVENT_GROUP = 1 << 0, /* 2.25 and older start no other event if its handle is NULL */
    NCCL_EVENT_COLL = 1 << 1,
    NCCL_EVENT_COLL_API = 1 << 9,
};

struct nccl_coll_old { /* v2 and v3 */
    const char *comm_name;
    uint64_t comm, number;
    const char *func;
    const void *from;
    void *to;
    size_t count;
    int root;
    const char *datatype;
    union {
        struct {
            size_t traffic;
            uint8_t max_channels, warps;
            const char *algo, *proto;
        } v2;
        struct {
            uint8_t max_channels, warps;
            const char *algo, *proto;
        } v3;
    };
};

struct nccl_coll { /* v4 and v5 */
    uint64_t number;
    const char *func;
    const void *from;
    void *to;
    size_t count;
    int root;
    const char *datatype;
    uint8_t channels, warps;
    const char *algo, *proto;
};

struct nccl_coll_api { /* v5 */
    const char *func;
    size_t count;
    const char *datatype;
    int root;
    void *stream;
    bool captured; /* into a CUDA graph */
};

struct nccl_event_old { /* v2 to v4 */
    uint8_t type;
    void *parent;
    int rank;
    union {
        struct nccl_coll_old old;
        struct nccl_coll v4;
    };
};

struct nccl_event_v5 {
    uint64_t type;
    void *parent;
    int rank;
    union {
        struct nccl_coll coll;
        struct nccl_coll_api api;
    };
};

struct nccl_profiler_v2 { /* and v3 */
    const char *name;
    int (*init)(void **context, int *events);
    int (*start)(void *context, void **handle, struct nccl_event_old *e);
    int (*stop)(void *handle);
    int (*record)(void *handle, int state, void *values);
    int (*finalize)(void *context);
};

struct nccl_profiler_v4 {
    const char *name;
    int (*init)(void **context, int *events, const char *comm_name, uint64_t comm, int nodes,
                int ranks, int rank, nccl_logger log);
    int (*start)(void *context, void **handle, struct nccl_event_old *e);
    int (*stop)(void *handle);
    int (*record)(void *handle, int state, void *values);
    int (*finalize)(void *context);
};

struct nccl_profiler_v5 {
    const char *name;
    int (*init)(void **context, uint64_t comm, int *events, const char *comm_name, int nodes,
                int ranks, int rank, nccl_logger log);
    int (*start)(void *context, void **handle, struct nccl_event_v5 *e);
    int (*stop)(void *handle);
    int (*record)(void *handle, int state, void *values);
    int (*finalize)(void *context);
};
