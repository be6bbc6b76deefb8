/* SPDX-License-Identifier: Apache-2.0
 *
 * The scripted cell of the null plugin, and its faults.
 */
#pragma once

#include "common/rng.h"
#include "workload.h"

#include <stdatomic.h>

struct cell {
    uint64_t size;
    double time, effect, noise, ar1, launch_noise, step, drift, fault_share;
    int64_t warmup, step_after, fault_rank, fault_after;
    int config, fault, fault_config;
    bool spin;
};

struct self {
    const struct wl_host *host;
    uint64_t samples, prepared;
    atomic_bool aborted;
};

struct prepared {
    struct self *self;
    struct cell cell;
    struct rng rng;
    double mean, e;
    int64_t samples;
    bool faulty; /* the scripted fault is for this launch, rank and config */
    void *buffer;
};

extern const char *const faults[]; /* NULL-terminated; the index is cell.fault */

bool fault_is_here(const struct cell *c, const struct wl_host *host);

/* The status of a call with this fault; WL_OK if the fault belongs to another call. */
enum wl_status fault_describe(const struct cell *c, char *why, size_t why_size);
enum wl_status fault_prepare(const struct prepared *p);
enum wl_status fault_sample(const struct prepared *p);
enum wl_status fault_verify(const struct prepared *p);
