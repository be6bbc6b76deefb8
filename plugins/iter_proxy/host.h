/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the host backend: host.c opens it and prepares a step, host_run.c runs and checks it.
 */
#pragma once

#include "common/gemm.h"
#include "common/payload.h"
#include "iter_proxy/backend.h"
#include "iter_proxy/comm_thread.h"
#include "iter_proxy/work.h"

struct state {
    const struct wl_host *host;
    MPI_Comm buckets; /* for the communication thread */
    struct comm_thread thread;
    struct gemm *operands;
};

struct step {
    struct state *state;
    const struct proxy_cell *cell;
    const struct proxy_work *work;
    bool computes, communicates;
    struct gemm *gemm;                /* NULL: no GEMM is computed */
    const struct proxy_compute *last; /* the last GEMM: whose result C holds */
    char *kernel_from, *kernel_to;    /* half of the largest kernel's bytes each */
    struct payload payload;
    char *in, *out;
    void *scratch; /* one: collectives run one after the other */
    struct comm_job *jobs;
};

/* Reports MPI's error; WL_FAIL. */
enum wl_status host_failed(const struct state *s, const char *what, int code);
enum wl_status run_host(void *step, unsigned iters, struct wl_sample *out);
enum wl_status verify_host(void *step);
