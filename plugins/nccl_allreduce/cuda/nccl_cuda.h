/* SPDX-License-Identifier: Apache-2.0
 *
 * State of the CUDA side of nccl_allreduce, and its parts: arena.c holds the buffers, graph.c
 * queues the operations, prepare.c and measure.c do what their names say.
 */
#pragma once

#include "common/cuda_burn.h"
#include "common/cuda_collective.h"
#include "common/cuda_comm.h"
#include "nccl_allreduce/nccl_allreduce.h"

/* Device memory that the cells of a group share: one of them is measured at a time. */
struct arena {
    struct arena *next;
    void *base;
    size_t bytes;
    enum memory memory; /* memory that is registered for one config is not used by another */
    int users;
    const void *loaded; /* the prepared cell whose inputs it holds */
};

struct state {
    const struct wl_host *host;
    struct gpu gpu;
    struct comms comms;
    struct burn burn;
    bool can_burn;
    struct arena *arenas;
    cudaEvent_t done;
};

/* `n` operations, launched as one. */
struct op_graph {
    unsigned n;
    cudaGraphExec_t exec;
};

struct prepared {
    struct state *state;
    struct nccl_cell cell;
    struct comm *comm;
    struct arena *arena;
    struct nccl_operation what;
    size_t slot_B;
    unsigned slots; /* buffers in rotation */
    void *registration;
    struct op_graph unit, rest;
    unsigned iters;              /* of the last sample */
    struct gpu_mismatch *record; /* of the last sample's result */
    bool unpredictable;          /* it was not exact: verify() does one more operation */
};

char *slot_in(const struct prepared *p, unsigned slot);
char *slot_out(const struct prepared *p, unsigned slot);

/* Not collective. WL_SKIP: out of device memory, `why` says so. */
enum wl_status arena_take(struct state *s, size_t bytes, enum memory memory, struct arena **out,
                          char *why, size_t n);
void arenas_free(struct state *s);
/* Queues the writing of the inputs, and of wrong values into the outputs. */
enum wl_status arena_load(struct prepared *p);

/* Queues operation `i` of a sample. */
ncclResult_t operation(struct prepared *p, unsigned i);
/* Captures, instantiates, uploads and once replays the graphs that launch `iters` operations. */
enum wl_status graphs_make(struct prepared *p, unsigned iters);
void graphs_free(struct prepared *p);
/* Queues `iters` operations as the cell says. */
enum wl_status launch(struct prepared *p, unsigned iters);
/* Queues the untimed operations before a sample of `iters`: nccl_lead(). */
enum wl_status launch_lead(struct prepared *p, unsigned iters);
/* How many operations of the last sample used this slot. */
unsigned operations_on(const struct prepared *p, unsigned slot);

/* Of struct nccl_backend. */
enum wl_status prepare_cuda(void *self, const void *cell, void **prepared);
void release_cuda(void *prepared);
enum wl_status sample_cuda(void *prepared, unsigned iters, struct wl_sample *out);
enum wl_status verify_cuda(void *prepared);
