/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA backend of iter_proxy: GEMMs by cuBLAS on one stream, buckets by NCCL on another of the
 * highest priority, eagerly launched as a training framework does. blas.c computes, proxy_cuda.c
 * holds what steps share, step.c prepares, runs and checks one.
 */
#ifndef PROXY_CUDA_H
#define PROXY_CUDA_H

#include "common/cuda_collective.h"
#include "common/cuda_memory.h"
#include "common/cuda_open.h"
#include "iter_proxy/backend.h"

#include <cublas_v2.h>

/* Operands of equal n and precision: C = op(A) op(B), n x n each. */
struct operands {
    struct operands *next;
    size_t n;
    int precision; /* enum proxy_precision */
    int users;
    void *a, *b, *c;
};

/* The windows of one gradient on one communicator. */
struct windows {
    struct windows *next;
    struct comm *comm;
    int users;
    void *in, *out;
};

/* Gradients of equal size, buckets and collective: the same exact input and output for every config
 * and mode of one memory. */
struct gradient {
    struct gradient *next;
    size_t bytes;
    int64_t buckets;
    int collective, memory;
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
    struct gradient *gradients;
};

struct step {
    struct state *state;
    const struct proxy_cell *cell;
    const struct proxy_schedule *schedule;
    struct comm *comm;
    struct operands *operands; /* NULL: nothing is computed */
    struct gradient *gradient; /* NULL: nothing is communicated */
    struct windows *windows;   /* NULL: plain memory */
    int last_gemm;             /* the last one's index: whose result C holds */
    struct gpu_mismatch *gemm_record, *bucket_record;
};

/* Not collective; `why` when not WL_OK. */
enum wl_status operands_take(struct state *s, size_t n, int precision, struct operands **out,
                             char *why, size_t size);
void operands_drop(struct state *s, struct operands *o);
/* Queues GEMM `i` of `gemms`: forward (A B) in the first third, then by turns the two products of
 * the backward pass (A B', A' B). */
enum wl_status gemm_queue(struct state *s, const struct operands *o, int i, int gemms);
/* Is C the product that GEMM i computes? Queued: `record` will say. */
cudaError_t gemm_check(struct state *s, const struct operands *o, int i, int gemms,
                       struct gpu_mismatch *record);

enum wl_status gradient_take(struct state *s, const struct proxy_cell *cell, struct gradient **out,
                             char *why, size_t size);
void gradient_drop(struct state *s, struct gradient *g);
/* Registers the gradient with the communicator, once for all steps. Collective. */
enum wl_status windows_take(struct state *s, struct gradient *g, struct comm *comm,
                            struct windows **out, char *why, size_t size);
void windows_drop(struct state *s, struct gradient *g, struct windows *w);

struct nccl_operation bucket_operation(const struct proxy_cell *cell, unsigned b);

/* Of struct proxy_backend. */
enum wl_status prepare_step(void *state, const struct proxy_cell *cell,
                            const struct proxy_schedule *schedule, void **step);
void release_step(void *step);
enum wl_status poison_step(void *step);
enum wl_status run_step(void *step, unsigned iters, struct wl_sample *out);
enum wl_status verify_step(void *step);

#endif
