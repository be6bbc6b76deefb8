/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA backend of iter_proxy: GEMMs by cuBLAS and memory-bound kernels on one stream, collectives
 * by NCCL on another of the highest priority, launched one by one or as a CUDA graph. blas.c
 * computes, collectives.c has the buffers of collectives, proxy_cuda.c opens, prepare.c prepares
 * a step, step.c runs and checks it.
 */
#pragma once

#include "common/cuda_collective.h"
#include "common/cuda_comm.h"
#include "iter_proxy/backend.h"

#include <cublas_v2.h>

/* The operands of all GEMMs of a step, and the memory that its other kernels copy. Shared by the
 * steps that need equal sizes. */
struct operands {
    struct operands *next;
    struct proxy_operands size[PROXY_POOLS];
    uint64_t kernel_B;
    int users;
    struct matrices {
        void *a, *b, *c;
    } pool[PROXY_POOLS];
    void *from, *to;
};

/* The windows of a step's buffers on one communicator. */
struct windows {
    struct windows *next;
    struct comm *comm;
    int users;
    void *in, *out;
};

/* Input and output of the collectives of a step: the same exact values for every config and mode with
 * these collectives and this memory. */
struct buffers {
    struct buffers *next;
    struct proxy_collective *collective; /* a copy: those that the input is made for */
    size_t n;
    uint64_t bytes; /* of the input, and of the output */
    int memory;     /* enum proxy_memory */
    int users;
    void *in, *out;
    struct windows *windows;
};

struct state {
    const struct wl_host *host;
    struct gpu gpu; /* gpu.stream communicates */
    struct comms comms;
    cudaStream_t compute;
    cudaEvent_t computed, communicated;
    cublasHandle_t blas;
    void *workspace;
    struct operands *operands;
    struct buffers *buffers;
};

struct step {
    struct state *state;
    const struct proxy_cell *cell;
    const struct proxy_work *work;
    struct comm *comm;
    struct operands *operands;        /* NULL: nothing is computed */
    struct buffers *buffers;          /* NULL: nothing is communicated */
    struct windows *windows;          /* NULL: plain memory */
    const struct proxy_compute *last; /* the last GEMM, whose result C holds; NULL: none */
    cudaEvent_t *done;                /* of each collective; NULL: no task waits for one */
    cudaGraphExec_t graph;            /* one iteration; NULL: launched one by one */
    struct gpu_mismatch *gemm_record, *collective_record;
};

/* Not collective; `why` when not WL_OK. A step's GEMM that is too large is named by its line. */
enum wl_status operands_take(struct state *s, const struct proxy_cell *cell,
                             const struct proxy_work *w, struct operands **out, char *why,
                             size_t size);
void operands_drop(struct state *s, struct operands *o);
/* Queues a GEMM or a kernel. */
enum wl_status compute_queue(struct state *s, const struct operands *o,
                             const struct proxy_compute *c);
cudaError_t operands_poison(struct state *s, const struct operands *o);
/* Is C the product that this GEMM computes? Queued: `record` will say. */
cudaError_t gemm_check(struct state *s, const struct operands *o, const struct proxy_compute *c,
                       struct gpu_mismatch *record);

enum wl_status buffers_take(struct state *s, const struct proxy_work *w, int memory,
                            struct buffers **out, char *why, size_t size);
void buffers_drop(struct buffers *b);
/* Frees all; no step may be left. */
void buffers_close(struct state *s);
/* Registers the buffers with the communicator, once for all steps. Collective. */
enum wl_status windows_take(struct state *s, struct buffers *b, struct comm *comm,
                            struct windows **out, char *why, size_t size);
void windows_drop(struct state *s, struct buffers *b, struct windows *w);

struct nccl_operation operation_of(const struct proxy_collective *c);
/* Queues the check of every output on gpu.stream. */
cudaError_t buffers_check(struct state *s, const struct buffers *b, struct gpu_mismatch *record);

/* Queues one iteration. */
enum wl_status step_issue(struct step *p);
/* The same for a capture: its last operation is on the stream where the capture began. */
enum wl_status step_issue_captured(struct step *p);
/* Waits for all queued iterations. */
enum wl_status step_finish(struct step *p);

/* Of struct proxy_backend. */
enum wl_status prepare_step(void *state, const struct proxy_cell *cell,
                            const struct proxy_work *work, void **step);
void release_step(void *step);
enum wl_status poison_step(void *step);
enum wl_status run_step(void *step, unsigned iters, struct wl_sample *out);
enum wl_status verify_step(void *step);
