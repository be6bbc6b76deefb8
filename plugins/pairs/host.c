/* SPDX-License-Identifier: Apache-2.0
 *
 * The host backend: a GEMM by the BLAS on one thread, a copy in memory, and messages by MPI. A pair
 * has a communicator of its own. MPI cannot end a message that does not arrive, so its request and
 * its buffer stay until the process ends.
 */
#include "common/clock.h"
#include "common/gemm.h"
#include "common/host_fail.h"
#include "pairs/pairs.h"

#include <cblas.h>
#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MEMORY_B ((size_t)64 << 20)
#define HUGE_PAGE_B ((size_t)2 << 20)
#define TAG 3
/* GEMMs of 3 ms in one test, as in cuda/own.c: a processor is taken away for some milliseconds at a time. */
#define PIECES 8

struct state {
    const struct wl_host *host;
    struct pairs_cell cell;
    MPI_Comm world, *pair; /* pair: by partner */
    struct gemm *operands, *gemm;
    char *from, *to; /* of the copy */
    uint32_t *send, *receive;
    bool hung; /* MPI still has the buffers */
};

static enum wl_status try_mpi(const struct state *s, int rc, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    if (rc == MPI_SUCCESS)
        return WL_OK;
    MPI_Error_string(rc, text, &n);
    return HOST_FAILED(s->host, "%s: %s", what, text);
}

static void close_host(void *state)
{
    struct state *s = state;
    for (int i = 0; s->pair && i < s->host->ranks; i++)
        if (s->pair[i] != MPI_COMM_NULL && !s->hung)
            MPI_Comm_free(&s->pair[i]);
    if (s->world != MPI_COMM_NULL && !s->hung)
        MPI_Comm_free(&s->world);
    gemm_drop(&s->operands, s->gemm);
    free(s->pair);
    free(s->from);
    free(s->to);
    if (!s->hung) {
        free(s->send);
        free(s->receive);
    }
    free(s);
}

/* Small pages lie differently in each launch, which changes the rate of a copy. */
static void *huge_pages(size_t bytes)
{
    void *p = aligned_alloc(HUGE_PAGE_B, bytes);
    if (p)
        (void)madvise(p, bytes, MADV_HUGEPAGE); /* where the kernel has them */
    return p;
}

static bool allocate(struct state *s)
{
    size_t n = (size_t)s->cell.gemm;
    s->pair = calloc((size_t)s->host->ranks, sizeof *s->pair);
    s->from = huge_pages(MEMORY_B);
    s->to = huge_pages(MEMORY_B);
    s->send = malloc(s->cell.size);
    s->receive = malloc(s->cell.size);
    s->gemm = gemm_take(&s->operands, (struct gemm_space){n * n, n * n, n * n}, s->host->seed);
    if (!s->pair || !s->from || !s->to || !s->send || !s->receive || !s->gemm)
        return false;
    for (int i = 0; i < s->host->ranks; i++)
        s->pair[i] = MPI_COMM_NULL;
    memset(s->to, 0, MEMORY_B);
    for (size_t i = 0; i < MEMORY_B / sizeof(uint32_t); i++)
        ((uint32_t *)s->from)[i] = pairs_word(s->host->rank, i);
    for (size_t i = 0; i < s->cell.size / sizeof *s->send; i++)
        s->send[i] = pairs_word(s->host->rank, i);
    return true;
}

static enum wl_status open_host(void **state, const struct wl_host *host,
                                const struct pairs_cell *cell)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return HOST_FAILED(host, "out of memory");
    *s = (struct state){.host = host, .cell = *cell, .world = MPI_COMM_NULL};
    enum wl_status status = try_mpi(s, MPI_Comm_dup(MPI_COMM_WORLD, &s->world), "MPI_Comm_dup");
    if (status == WL_OK && !allocate(s)) {
        host->fail(host->ctx, "no memory for messages of %llu bytes and copies of 64 MiB",
                   (unsigned long long)cell->size);
        status = WL_FAIL;
    }
    if (status != WL_OK) {
        close_host(s);
        return status;
    }
    MPI_Comm_set_errhandler(s->world, MPI_ERRORS_RETURN);
    openblas_set_num_threads(1);
    *state = s;
    return WL_OK;
}

static enum wl_status meet(void *state, int round, int partner)
{
    struct state *s = state;
    MPI_Comm pair;
    (void)round;
    int rank = s->host->rank, color = partner < rank ? partner : rank;
    int rc = MPI_Comm_split(s->world, partner < 0 ? MPI_UNDEFINED : color, rank, &pair);
    if (rc == MPI_SUCCESS && partner >= 0)
        s->pair[partner] = pair;
    return try_mpi(s, rc, "MPI_Comm_split");
}

/* ---- messages ---- */

/* Polls, so that a message that does not arrive can be given up. */
static enum wl_status wait(struct state *s, MPI_Request *requests, int n, uint64_t deadline_ns)
{
    for (int done = 0, polls = 1; !done; polls++) {
        int rc = MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
        if (rc != MPI_SUCCESS)
            return try_mpi(s, rc, "MPI_Testall");
        if (!done && now_ns() > deadline_ns) {
            s->hung = true;
            return WL_RETRY;
        }
        if (polls % 64 == 0)
            sched_yield();
    }
    return WL_OK;
}

static enum wl_status once(struct state *s, enum pairs_test test, int partner, uint64_t deadline_ns)
{
    MPI_Comm pair = s->pair[partner];
    int n = (int)(s->cell.size / sizeof *s->send), other = s->host->rank < partner;
    MPI_Request requests[2];
    int rc;
    if (test == PAIRS_ALLREDUCE) {
        rc = MPI_Iallreduce(s->send, s->receive, n, MPI_UINT32_T, MPI_SUM, pair, requests);
    } else {
        rc = MPI_Irecv(s->receive, n, MPI_UINT32_T, other, TAG, pair, &requests[0]);
        if (rc == MPI_SUCCESS)
            rc = MPI_Isend(s->send, n, MPI_UINT32_T, other, TAG, pair, &requests[1]);
    }
    if (rc != MPI_SUCCESS)
        return try_mpi(s, rc, "a message");
    return wait(s, requests, test == PAIRS_ALLREDUCE ? 1 : 2, deadline_ns);
}

static enum wl_status check(const struct state *s, enum pairs_test test, int partner)
{
    for (size_t i = 0; i < s->cell.size / sizeof *s->receive; i++) {
        uint32_t want = pairs_word(partner, i);
        if (test == PAIRS_ALLREDUCE)
            want += pairs_word(s->host->rank, i);
        if (s->receive[i] == want)
            continue;
        return HOST_FAILED(s->host, "rank %d got wrong data from rank %d: word %zu is %u, not %u",
                           s->host->rank, partner, i, s->receive[i], want);
    }
    return WL_OK;
}

static enum wl_status run_pair(struct state *s, enum pairs_test test, int partner, unsigned times,
                               double *seconds)
{
    uint64_t deadline_ns = now_ns() + (uint64_t)(s->cell.patience * 1e9);
    memset(s->receive, 0, s->cell.size);
    enum wl_status status = once(s, test, partner, deadline_ns); /* aligns the pair */
    uint64_t start = now_ns();
    for (unsigned i = 0; i < times && status == WL_OK; i++)
        status = once(s, test, partner, deadline_ns);
    *seconds = (double)(now_ns() - start) * 1e-9 / times;
    return status == WL_OK ? check(s, test, partner) : status;
}

/* ---- a rank by itself ---- */

static enum wl_status run_gemm(struct state *s, unsigned times, double *seconds)
{
    size_t n = (size_t)s->cell.gemm;
    const struct gemm_shape shape = {.m = n, .n = n, .k = n};
    gemm_poison(s->gemm);
    gemm_run(s->gemm, &shape, 1);
    uint64_t start = now_ns();
    gemm_run(s->gemm, &shape, times * PIECES);
    *seconds = (double)(now_ns() - start) * 1e-9 / times / PIECES;
    if (gemm_check(s->gemm, &shape))
        return WL_OK;
    return HOST_FAILED(s->host, "rank %d computed a wrong GEMM", s->host->rank);
}

static enum wl_status run_memory(struct state *s, unsigned times, double *seconds)
{
    uint64_t start = now_ns();
    for (unsigned i = 0; i < times; i++) {
        memcpy(s->to, s->from, MEMORY_B);
        __asm__ volatile("" : : "r"(s->to) : "memory"); /* each copy is made */
    }
    *seconds = (double)(now_ns() - start) * 1e-9 / times;
    if (memcmp(s->to, s->from, MEMORY_B) == 0)
        return WL_OK;
    return HOST_FAILED(s->host, "rank %d copied memory wrong", s->host->rank);
}

static enum wl_status run(void *state, enum pairs_test test, int partner, unsigned times,
                          double *seconds)
{
    struct state *s = state;
    switch (test) {
    case PAIRS_GEMM:
        return run_gemm(s, times, seconds);
    case PAIRS_MEMORY:
        return run_memory(s, times, seconds);
    case PAIRS_SENDRECV:
    case PAIRS_ALLREDUCE:
        return run_pair(s, test, partner, times, seconds);
    default:
        *seconds = NAN;
        return WL_OK;
    }
}

const struct pairs_backend pairs_host = {.size = sizeof(struct pairs_backend),
                                         .open = open_host,
                                         .close = close_host,
                                         .meet = meet,
                                         .run = run};
