/* SPDX-License-Identifier: Apache-2.0
 *
 * The binary interface between NCCL and a tuner plugin, versions 3 to 7, so that the plugin builds
 * without NCCL. Written from the definitions in NCCL's sources (src/include/plugin/tuner/,
 * src/include/nccl_common.h), which are Copyright NVIDIA CORPORATION & AFFILIATES and Meta
 * Platforms, Inc. and affiliates, licensed under Apache-2.0 and BSD-3-Clause; see LICENSE.txt of
 * NCCL.
 *
 * NCCL takes the newest symbol that it knows: 2.22 and 2.23 v3, 2.24 to 2.27 v4, 2.28 and 2.29 v5,
 * 2.30 v6, from 2.32 on v7, whose functions are those of v6 (its constants know a newer GPU). Tried
 * on GPUs with NCCL 2.28.9 (v5); the other versions with tests/tuner/job, which plays NCCL. `init`
 * is called once a communicator and rank; getCollInfo once for each collective (or each aggregate
 * of a group) that NCCL enqueues; the last function when the communicator is destroyed, which many
 * programs never do.
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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nccl_result { NCCL_SUCCESS = 0 };

enum nccl_func {
    NCCL_BROADCAST,
    NCCL_REDUCE,
    NCCL_ALL_GATHER,
    NCCL_REDUCE_SCATTER,
    NCCL_ALL_REDUCE,
    /* The tuner is not asked about these; only the price sees them. */
    NCCL_ALL_TO_ALL,
    NCCL_SEND_RECV
};
#define NCCL_FUNCS 7

enum nccl_algo {
    NCCL_TREE,
    NCCL_RING,
    NCCL_COLLNET_DIRECT,
    NCCL_COLLNET_CHAIN,
    NCCL_NVLS,
    NCCL_NVLS_TREE,
    NCCL_PAT
};
#define NCCL_ALGOS 7

enum nccl_proto { NCCL_LL, NCCL_LL128, NCCL_SIMPLE };
#define NCCL_PROTOS 3
#define NCCL_PAIRS (NCCL_ALGOS * NCCL_PROTOS)

#define NCCL_IGNORE (-1.0f) /* in the cost table: this pair is not available */
#define NCCL_MAX_CHANNELS 64

typedef void (*nccl_logger)(int level, unsigned long flags, const char *file, int line,
                            const char *fmt, ...);

struct nccl_domains { /* from v5 on; not used here */
    int domains, min_ranks, max_ranks;
};
struct nccl_constants; /* from v5 on; not used here */

/* `costs` is declared float ** by NCCL and is a float[algos][protos]: microseconds, the lowest
 * wins. `channels` comes in as 0, NCCL's choice. */
struct nccl_tuner_v3 {
    const char *name;
    int (*init)(size_t ranks, size_t nodes, nccl_logger log, void **context);
    int (*get)(void *context, int func, size_t bytes, int pipe_ops, float **costs, int algos,
               int protos, int *channels);
    int (*destroy)(void *context);
};

struct nccl_tuner_v4 {
    const char *name;
    int (*init)(size_t ranks, size_t nodes, nccl_logger log, void **context);
    int (*get)(void *context, int func, size_t bytes, int pipe_ops, float **costs, int algos,
               int protos, int reg_buff, int *channels);
    int (*destroy)(void *context);
};

struct nccl_tuner_v5 {
    const char *name;
    int (*init)(void **context, uint64_t comm, size_t ranks, size_t nodes, nccl_logger log,
                struct nccl_domains *domains, struct nccl_constants *constants);
    int (*get)(void *context, int func, size_t bytes, int pipe_ops, float **costs, int algos,
               int protos, int reg_buff, int *channels);
    int (*finalize)(void *context);
};

/* v7 is the same, with other constants. */
struct nccl_tuner_v6 {
    const char *name;
    int (*init)(void **context, uint64_t comm, size_t ranks, size_t nodes, nccl_logger log,
                struct nccl_domains *domains, struct nccl_constants *constants);
    int (*get)(void *context, int func, size_t bytes, int pipe_ops, float **costs, int algos,
               int protos, int reg_buff, int *channels);
    int (*finalize)(void *context);
    int (*chunk)(void *context, int func, size_t bytes, int algo, int proto, int channels,
                 size_t *chunk); /* may be NULL */
};

/* ---- the profiler ---- */

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
