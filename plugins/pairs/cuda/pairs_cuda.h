/* SPDX-License-Identifier: Apache-2.0
 *
 * State of the CUDA side of pairs: own.c runs the tests of one GPU, pair.c those of two, each pair
 * with a communicator of its own.
 */
#pragma once

#include "common/cuda_burn.h"
#include "common/cuda_open.h"
#include "pairs/pairs.h"

struct state {
    const struct wl_host *host;
    struct pairs_cell cell;
    struct gpu gpu;
    struct comms comms;
    struct burn burn;         /* its GEMM and its copy are the tests of one GPU */
    ncclComm_t *pair;         /* by partner; NULL: none, or it did not answer */
    uint32_t *send, *receive; /* on the device */
    uint32_t *mine, *back;    /* on the host, pinned; mine: what `send` holds */
    struct gpu_mismatch *wrong;
};

enum wl_status own_run(struct state *s, enum pairs_test test, unsigned times, double *seconds);

enum wl_status pair_meet(void *state, int round, int partner);
enum wl_status pair_run(struct state *s, enum pairs_test test, int partner, unsigned times,
                        double *seconds);
void pair_end(struct state *s, int partner);

/* Seconds of one of `times` operations between the events of the GPU, which have happened. */
enum wl_status elapsed(struct state *s, unsigned times, double *seconds);
/* The words of a rank's message. plus >= 0: their sums with the words of that rank. */
struct gpu_words words_of(int rank, int plus);
