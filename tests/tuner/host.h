/* SPDX-License-Identifier: Apache-2.0
 *
 * Plays NCCL towards a tuner and profiler plugin: loads it, takes the newest symbols up to a
 * version, asks the tuner about each collective, chooses from the cost table as NCCL does, and tells
 * the profiler what runs.
 */
#pragma once

#include "nccl_tuner/nccl_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host {
    void *library, *profiler_library;
    int abi, profiler; /* versions; profiler 0: none */
    const void *symbol, *profiler_symbol;
    int channels;  /* of a communicator */
    bool stubborn; /* runs NCCL's own choice whatever the tuner says */
};

struct host_comm {
    const struct host *host;
    void *context, *profiler_context;
    int ranks;
    bool captured; /* the calls go into a CUDA graph */
};

/* The pair with the lowest cost, the tuner's channels. */
struct ran {
    uint8_t algo, proto, channels;
};

/* False: printed why. abi: the newest that this NCCL knows, 3 to 7; 2: it knows none of ours, and
 * runs without. */
bool host_load(struct host *h, const char *path, int abi);
/* The same of a profiler, version 2 to 5. NCCL goes on without one. */
bool host_load_profiler(struct host *h, const char *path, int version);
void host_unload(struct host *h);
bool host_init(struct host_comm *c, const struct host *h, uint64_t id, int ranks, int nodes);
bool host_call(struct host_comm *c, int func, size_t bytes, struct ran *ran);
bool host_finalize(struct host_comm *c);
