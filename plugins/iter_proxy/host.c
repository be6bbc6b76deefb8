/* SPDX-License-Identifier: Apache-2.0
 *
 * The host backend: GEMMs by the BLAS on the thread that calls run(), buckets by MPI on a
 * communication thread. The thread serves every mode and every algorithm, the library's own
 * included, so that A, B, C and D go through the same code and differ in their schedule alone.
 *
 * MPI waits by spinning: with as many ranks as processors, a rank's communication thread takes the
 * processor from its own GEMMs while it waits for another rank. That is a property of the machine
 * under test, and D shows it; a processor more for each rank shows the overlap. The number of
 * processors a rank may use is noted in the recording.
 */
#include "common/clock.h"
#include "common/collective_mpi.h"
#include "common/gemm.h"
#include "common/payload.h"
#include "iter_proxy/backend.h"
#include "iter_proxy/comm_thread.h"
#include "iter_proxy/schedule.h"

#include <cblas.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

struct state {
    const struct wl_host *host;
    MPI_Comm buckets; /* for the communication thread */
    struct comm_thread thread;
    struct gemm *operands;
};

struct step {
    struct state *state;
    const struct proxy_cell *cell;
    const struct proxy_schedule *schedule;
    bool computes, communicates;
    struct gemm *gemm;
    struct payload payload;
    float *gradient, *reduced;
    void *scratch; /* one: buckets are reduced one after the other */
    struct comm_job *jobs;
};

static const enum allreduce_kind how[] = {
    [PROXY_ALGORITHM_AUTO] = ALLREDUCE_AUTO,
    [PROXY_RING] = ALLREDUCE_RING,
    [PROXY_TREE] = ALLREDUCE_TREE,
    [PROXY_RECURSIVE_DOUBLING] = ALLREDUCE_RECURSIVE_DOUBLING,
    [PROXY_RABENSEIFNER] = ALLREDUCE_RABENSEIFNER,
};

static enum wl_status failed(const struct state *s, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    MPI_Error_string(code, text, &n);
    s->host->fail(s->host->ctx, "%s: %s", what, text);
    return WL_FAIL;
}

/* ---- once a process ---- */

static void note_processors(const struct wl_host *host)
{
    cpu_set_t set;
    char text[16];
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    snprintf(text, sizeof text, "%d", CPU_COUNT(&set));
    host->note(host->ctx, "processors", text);
}

static int open_comm(struct state *s)
{
    int rc = MPI_Comm_dup(MPI_COMM_WORLD, &s->buckets);
    if (rc == MPI_SUCCESS)
        MPI_Comm_set_errhandler(s->buckets, MPI_ERRORS_RETURN);
    return rc;
}

static void free_state(struct state *s)
{
    if (s->buckets != MPI_COMM_NULL)
        MPI_Comm_free(&s->buckets);
    free(s);
}

static enum wl_status open_host(void **state, const struct wl_host *host)
{
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED) {
        host->fail(host->ctx, "backend=host communicates on a thread of its own, and this MPI was "
                              "not initialised with MPI_THREAD_SERIALIZED or more");
        return WL_SKIP;
    }
    struct state *s = calloc(1, sizeof *s);
    if (!s) {
        host->fail(host->ctx, "out of memory");
        return WL_FAIL;
    }
    s->host = host;
    s->buckets = MPI_COMM_NULL;
    int rc = open_comm(s);
    enum wl_status status = rc == MPI_SUCCESS ? WL_OK : failed(s, "MPI_Comm_dup", rc);
    if (status == WL_OK && comm_thread_start(&s->thread) != 0) {
        host->fail(host->ctx, "the communication thread cannot be started");
        status = WL_FAIL;
    }
    if (status != WL_OK) {
        free_state(s);
        return status;
    }
    openblas_set_num_threads(1);
    note_processors(host);
    *state = s;
    return WL_OK;
}

static void close_host(void *state)
{
    struct state *s = state;
    comm_thread_stop(&s->thread);
    free_state(s);
}

/* ---- a step ---- */

static size_t bucket_count(const struct proxy_cell *c, unsigned b)
{
    return proxy_bucket(c, b + 1) - proxy_bucket(c, b);
}

/* Buckets differ by one element at most. */
static size_t scratch_B(const struct proxy_cell *c, int ranks)
{
    size_t largest = (size_t)(c->size / sizeof(float)) / (size_t)c->buckets + 1;
    return allreduce_scratch_B(how[c->algorithm], largest, sizeof(float), ranks, false);
}

static bool allocate_compute(struct step *p)
{
    p->gemm = gemm_take(&p->state->operands, (size_t)p->cell->gemm, p->state->host->seed);
    return p->gemm;
}

static bool allocate_comm(struct step *p)
{
    size_t bytes = ((size_t)p->cell->size + 4095) / 4096 * 4096;
    size_t scratch = scratch_B(p->cell, p->state->host->ranks);
    p->gradient = aligned_alloc(4096, bytes);
    p->reduced = aligned_alloc(4096, bytes);
    p->scratch = scratch ? malloc(scratch) : NULL;
    p->jobs = calloc((size_t)p->cell->buckets, sizeof *p->jobs);
    return p->gradient && p->reduced && p->jobs && (p->scratch || !scratch);
}

static void fill_job(const struct step *p, unsigned b)
{
    const struct wl_host *host = p->state->host;
    size_t first = proxy_bucket(p->cell, b);
    p->jobs[b] =
        (struct comm_job){.how = p->cell->collective ? &collectives_mpi[p->cell->collective]
                                                     : &allreduces[how[p->cell->algorithm]],
                          .call = {.send = p->gradient + first,
                                   .recv = p->reduced + first,
                                   .count = (int)bucket_count(p->cell, b),
                                   .element_B = sizeof(float),
                                   .type = MPI_FLOAT,
                                   .op = MPI_SUM,
                                   .comm = p->state->buckets,
                                   .rank = host->rank,
                                   .ranks = host->ranks,
                                   .scratch = p->scratch}};
}

static void fill_buckets(struct step *p)
{
    struct payload_kind kind = {
        .type = PAYLOAD_FLOAT32, .op = PAYLOAD_SUM, .ranks = p->state->host->ranks};
    payload_init(&p->payload, &kind, p->state->host->rank);
    payload_fill(&p->payload, p->gradient, (size_t)p->cell->size / sizeof(float));
    for (unsigned b = 0; b < (unsigned)p->cell->buckets; b++)
        fill_job(p, b);
}

static void release_host(void *step)
{
    struct step *p = step;
    gemm_drop(&p->state->operands, p->gemm);
    free(p->gradient);
    free(p->reduced);
    free(p->scratch);
    free(p->jobs);
    free(p);
}

/* A part of a bucket's result: where it lies, and which part of the inputs it is. */
static struct collective_part part(const struct step *p, unsigned b, int i, float **at)
{
    const struct wl_host *host = p->state->host;
    size_t first = proxy_bucket(p->cell, b);
    struct collective_part part = collective_part((enum collective)p->cell->collective, host->rank,
                                                  host->ranks, bucket_count(p->cell, b), i);
    *at = p->reduced + first + part.first;
    part.input_first += first;
    return part;
}

static int parts(const struct step *p)
{
    const struct wl_host *host = p->state->host;
    return collective_parts((enum collective)p->cell->collective, host->rank, host->ranks);
}

static void poison_buckets(struct step *p)
{
    for (unsigned b = 0; b < (unsigned)p->cell->buckets; b++)
        for (int i = 0; i < parts(p); i++) {
            float *at;
            struct collective_part of = part(p, b, i, &at);
            payload_poison_part(&p->payload, at, of.n, of.source, of.input_first);
        }
}

static bool check_buckets(struct step *p, struct payload_fault *f)
{
    for (unsigned b = 0; b < (unsigned)p->cell->buckets; b++)
        for (int i = 0; i < parts(p); i++) {
            float *at;
            struct collective_part of = part(p, b, i, &at);
            if (!payload_check_part(&p->payload, at, of.n, of.source, of.input_first, f)) {
                f->element += (size_t)(at - p->reduced);
                return false;
            }
        }
    return true;
}

static enum wl_status poison_host(void *step)
{
    struct step *p = step;
    if (p->computes)
        gemm_poison(p->gemm);
    if (p->communicates)
        poison_buckets(p);
    return WL_OK;
}

static enum wl_status prepare_host(void *state, const struct proxy_cell *cell,
                                   const struct proxy_schedule *schedule, void **step)
{
    struct state *s = state;
    struct step *p = calloc(1, sizeof *p);
    if (p)
        *p = (struct step){.state = s,
                           .cell = cell,
                           .schedule = schedule,
                           .computes = schedule_has(schedule, PROXY_COMPUTE),
                           .communicates = schedule_has(schedule, PROXY_COMM)};
    if (!p || (p->computes && !allocate_compute(p)) || (p->communicates && !allocate_comm(p))) {
        s->host->fail(s->host->ctx, "no memory for size=%llu gemm=%lld",
                      (unsigned long long)cell->size, (long long)cell->gemm);
        if (p)
            release_host(p);
        return WL_FAIL;
    }
    if (p->communicates)
        fill_buckets(p);
    *step = p;
    return WL_OK;
}

/* GEMMs are done when gemm_run() returns, so that what is issued later is after them anyway. */
static int do_task(struct step *p, const struct proxy_task *t)
{
    switch (t->verb) {
    case PROXY_COMPUTE:
        gemm_run(p->gemm, t->n);
        return MPI_SUCCESS;
    case PROXY_COMM:
        comm_thread_post(&p->state->thread, &p->jobs[t->first]);
        return MPI_SUCCESS;
    case PROXY_JOIN:
        return comm_thread_wait(&p->state->thread);
    }
    return MPI_ERR_INTERN;
}

static enum wl_status run_host(void *step, unsigned iters, struct wl_sample *out)
{
    struct step *p = step;
    int rc = MPI_SUCCESS;
    p->state->host->start(p->state->host->ctx);
    out->start_ns = now_ns();
    for (unsigned i = 0; i < iters && rc == MPI_SUCCESS; i++)
        for (size_t t = 0; t < p->schedule->n && rc == MPI_SUCCESS; t++)
            rc = do_task(p, &p->schedule->task[t]);
    out->end_ns = now_ns();
    out->values[0] = (double)(out->end_ns - out->start_ns) * 1e-9 / iters;
    return rc == MPI_SUCCESS ? WL_OK : failed(p->state, p->jobs ? p->jobs[0].how->name : "MPI", rc);
}

static enum wl_status verify_host(void *step)
{
    struct step *p = step;
    const struct wl_host *host = p->state->host;
    struct payload_fault f;
    if (p->communicates && !check_buckets(p, &f)) {
        host->fail(host->ctx, "element %zu of the reduced gradient is %.9g, not %.9g, on rank %d",
                   f.element, f.got, f.expected, host->rank);
        return WL_FAIL;
    }
    if (p->computes && !gemm_check(p->gemm)) {
        host->fail(host->ctx, "the GEMM of n = %zu is wrong on rank %d", p->gemm->n, host->rank);
        return WL_FAIL;
    }
    return WL_OK;
}

const struct proxy_backend proxy_backend_host = {
    .size = sizeof(struct proxy_backend),
    .name = "host",
    .open = open_host,
    .close = close_host,
    .prepare = prepare_host,
    .release = release_host,
    .poison = poison_host,
    .run = run_host,
    .verify = verify_host,
};
