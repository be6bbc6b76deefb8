/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface between pairs and its backends: that of the host in pairs.c, and pairs/cuda.so.
 */
#pragma once

#include "workload.h"

#define PAIRS_BACKEND_SYMBOL "pairs_backend_v1"

enum pairs_backend_kind { PAIRS_HOST, PAIRS_CUDA };

/* Each rank does the tests below PAIRS_ALONE by itself, in round 0; pairs do the others. The
 * metrics have this order. */
enum pairs_test {
    PAIRS_GEMM,
    PAIRS_MEMORY,
    PAIRS_TO_DEVICE,
    PAIRS_FROM_DEVICE,
    PAIRS_SENDRECV,
    PAIRS_ALLREDUCE,
    PAIRS_TESTS
};
#define PAIRS_ALONE PAIRS_SENDRECV /* number of tests of a rank by itself */

struct pairs_cell {
    int backend; /* enum pairs_backend_kind */
    uint64_t size;
    int64_t gemm, round;
    double patience; /* s */
};

struct pairs_backend {
    size_t size;
    enum wl_status (*open)(void **state, const struct wl_host *host, const struct pairs_cell *cell);
    void (*close)(void *state);
    /* Connects the pairs of a round; partner -1: this rank is idle. Called once per round.
     * Collective. WL_RETRY: the partner did not answer in time. */
    enum wl_status (*meet)(void *state, int round, int partner);
    /* Runs a test `times` times after some untimed ones, and checks the result. *seconds: the time
     * of one on this rank; NaN: this backend has no such test. WL_RETRY: as for meet(). */
    enum wl_status (*run)(void *state, enum pairs_test test, int partner, unsigned times,
                          double *seconds);
    void (*abort)(void *state); /* may be NULL */
};

/* Word i of a rank's message. Sums of words wrap, so they are exact. */
static inline uint32_t pairs_word(int rank, size_t i)
{
    return (uint32_t)(i % 16 + 1) * 0x9E3779B1u + (uint32_t)rank * 0x85EBCA77u;
}
