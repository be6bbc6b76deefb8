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
#include "common/host.h"
#include "common/clock.h"
#include "common/gemm.h"
#include "common/mpi_calls.h"
#include "common/payload.h"
#include "iter_proxy/work.h"

#include <cblas.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== the communication thread ==== */

/* A thread that runs collectives in the order of posting, so that blocking algorithms overlap the
 * computation. From the first comm_thread_post() to the end of comm_thread_wait(), no other thread
 * of the process may call MPI. So MPI_THREAD_SERIALIZED is enough.
 */
/* The caller owns it, but must not touch it from post to wait. */
struct comm_job {
    const struct mpi_operation *how;
    struct mpi_call call;
    struct comm_job *next;
};

struct comm_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked, done;
    struct comm_job *first, *last;
    bool busy, stop;
    unsigned done_jobs, wanted; /* since the last comm_thread_wait() */
    int rc;                     /* the first failure since the last wait */
};

static struct comm_job *take(struct comm_thread *t)
{
    while (!t->first && !t->stop)
        pthread_cond_wait(&t->asked, &t->lock);
    struct comm_job *job = t->first;
    if (job)
        t->first = job->next;
    t->busy = job != NULL;
    return job;
}

static void *run_jobs(void *arg)
{
    struct comm_thread *t = arg;
    struct comm_job *job;
    pthread_mutex_lock(&t->lock);
    while ((job = take(t))) {
        bool failed = t->rc != MPI_SUCCESS;
        pthread_mutex_unlock(&t->lock);
        int rc = failed ? MPI_SUCCESS : job->how->run(&job->call);
        pthread_mutex_lock(&t->lock);
        if (rc != MPI_SUCCESS)
            t->rc = rc;
        t->busy = false;
        if (++t->done_jobs == t->wanted || !t->first)
            pthread_cond_signal(&t->done);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* 0, or the error number of pthread_create(). */
static int comm_thread_start(struct comm_thread *t)
{
    sigset_t all, before;
    *t = (struct comm_thread){.rc = MPI_SUCCESS};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->asked, NULL);
    pthread_cond_init(&t->done, NULL);
    sigfillset(&all); /* signals are the runner's, on its own thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&t->thread, NULL, run_jobs, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* No job may be running. */
static void comm_thread_stop(struct comm_thread *t)
{
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_signal(&t->asked);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
}

static void comm_thread_post(struct comm_thread *t, struct comm_job *job)
{
    job->next = NULL;
    pthread_mutex_lock(&t->lock);
    if (t->first)
        t->last->next = job;
    else
        t->first = job;
    t->last = job;
    pthread_cond_signal(&t->asked);
    pthread_mutex_unlock(&t->lock);
}

/* Waits until `jobs` of the jobs posted since the last comm_thread_wait() are done. */
static void comm_thread_wait_for(struct comm_thread *t, unsigned jobs)
{
    pthread_mutex_lock(&t->lock);
    t->wanted = jobs;
    while (t->done_jobs < jobs)
        pthread_cond_wait(&t->done, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

/* Waits for all posted jobs. Returns MPI_SUCCESS or the first error code. */
static int comm_thread_wait(struct comm_thread *t)
{
    pthread_mutex_lock(&t->lock);
    while (t->first || t->busy)
        pthread_cond_wait(&t->done, &t->lock);
    int rc = t->rc;
    t->rc = MPI_SUCCESS;
    t->done_jobs = t->wanted = 0;
    pthread_mutex_unlock(&t->lock);
    return rc;
}

/* ==== once a process ==== */

struct state {
    const struct wl_host *host;
    MPI_Comm buckets; /* for the communication thread */
    struct comm_thread thread;
    struct shared *operands;
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

static const enum allreduce_kind how[] = {
    [PROXY_ALGORITHM_AUTO] = ALLREDUCE_AUTO,
    [PROXY_RING] = ALLREDUCE_RING,
    [PROXY_TREE] = ALLREDUCE_TREE,
    [PROXY_RECURSIVE_DOUBLING] = ALLREDUCE_RECURSIVE_DOUBLING,
    [PROXY_RABENSEIFNER] = ALLREDUCE_RABENSEIFNER,
};

static void note_processors(const struct wl_host *host)
{
    cpu_set_t set;
    char text[16];
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    snprintf(text, sizeof text, "%d", CPU_COUNT(&set));
    host->note(host->ctx, "processors", text);
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
        HOST_FAIL(host, "backend=host communicates on a thread of its own, and this MPI was "
                        "not initialised with MPI_THREAD_SERIALIZED or more");
        return WL_SKIP;
    }
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return HOST_FAILED(host, "out of memory");
    s->host = host;
    s->buckets = MPI_COMM_NULL;
    enum wl_status status = mpi_try(host, mpi_dup(MPI_COMM_WORLD, &s->buckets), "MPI_Comm_dup");
    if (status == WL_OK && comm_thread_start(&s->thread) != 0)
        status = HOST_FAILED(host, "the communication thread cannot be started");
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

/* ==== preparing a step ==== */

static char *new_buffer(uint64_t bytes)
{
    return aligned_alloc(4096, ((size_t)bytes + 4095) / 4096 * 4096);
}

static bool allocate_compute(struct step *p)
{
    const struct proxy_work *w = p->work;
    const struct proxy_operands *o = &w->operands[PROXY_WIDE];
    const struct gemm_space space = {o->a, o->b, o->c};
    for (size_t i = 0; i < w->n_compute; i++)
        if (w->compute[i].m)
            p->last = &w->compute[i];
    if (p->last && !(p->gemm = gemm_take(&p->state->operands, space, p->state->host->seed)))
        return false;
    if (!w->kernel_B)
        return true;
    p->kernel_from = new_buffer(w->kernel_B / 2 + 1);
    p->kernel_to = new_buffer(w->kernel_B / 2 + 1);
    if (p->kernel_from)
        memset(p->kernel_from, 1, (size_t)w->kernel_B / 2 + 1);
    return p->kernel_from && p->kernel_to;
}

static size_t scratch_B(const struct step *p)
{
    const enum allreduce_kind kind = how[p->cell->algorithm];
    size_t most = 0;
    for (size_t i = 0; i < p->work->n_collectives; i++)
        if (p->work->collective[i].collective == COLLECTIVE_ALLREDUCE &&
            p->work->collective[i].elements > most)
            most = (size_t)p->work->collective[i].elements;
    return mpi_scratch_B(kind, most, sizeof(float), p->state->host->ranks, false);
}

static bool allocate_comm(struct step *p)
{
    size_t scratch = scratch_B(p);
    p->in = new_buffer(p->work->buffer_B);
    p->out = new_buffer(p->work->buffer_B);
    p->scratch = scratch ? malloc(scratch) : NULL;
    p->jobs = calloc(p->work->n_collectives, sizeof *p->jobs);
    return p->in && p->out && p->jobs && (p->scratch || !scratch);
}

static void fill_job(const struct step *p, size_t i)
{
    const struct wl_host *host = p->state->host;
    const struct proxy_collective *c = &p->work->collective[i];
    p->jobs[i] = (struct comm_job){.how = c->collective ? &mpi_collectives[c->collective]
                                                        : &mpi_allreduces[how[p->cell->algorithm]],
                                   .call = {.send = p->in + c->first,
                                            .recv = p->out + c->first,
                                            .count = (int)c->elements,
                                            .element_B = sizeof(float),
                                            .type = MPI_FLOAT,
                                            .op = MPI_SUM,
                                            .comm = p->state->buckets,
                                            .rank = host->rank,
                                            .ranks = host->ranks,
                                            .scratch = p->scratch}};
}

static void fill_collectives(struct step *p)
{
    struct payload_kind kind = {
        .type = PAYLOAD_FP32, .op = PAYLOAD_SUM, .ranks = p->state->host->ranks};
    payload_init(&p->payload, &kind, p->state->host->rank);
    for (size_t i = 0; i < p->work->n_collectives; i++) {
        const struct proxy_collective *c = &p->work->collective[i];
        payload_fill(&p->payload, p->in + c->first, (size_t)c->elements);
        fill_job(p, i);
    }
}

static void release_host(void *step)
{
    struct step *p = step;
    gemm_drop(&p->state->operands, p->gemm);
    free(p->kernel_from);
    free(p->kernel_to);
    free(p->in);
    free(p->out);
    free(p->scratch);
    free(p->jobs);
    free(p);
}

static enum wl_status poison_host(void *step)
{
    struct step *p = step;
    if (p->gemm)
        gemm_poison(p->gemm);
    if (p->communicates)
        memset(p->out, 0xff, (size_t)p->work->buffer_B); /* NaN */
    return WL_OK;
}

static void say_memory(const struct step *p)
{
    const struct wl_host *host = p->state->host;
    const struct proxy_operands *o = &p->work->operands[PROXY_WIDE];
    char where[WL_TEXT_MAX + 16] = "";
    if (p->cell->step[0])
        snprintf(where, sizeof where, "%s:%u: ", p->cell->step, o->line);
    HOST_FAIL(host,
              "%sno memory: %.1f MiB for the largest GEMM, %.1f MiB for collectives; a smaller %s",
              where, (double)(o->a + o->b + o->c) * sizeof(float) / 0x1p20,
              (double)p->work->buffer_B * 2 / 0x1p20, p->cell->step[0] ? "scale or batch" : "size");
}

static enum wl_status prepare_host(void *state, const struct proxy_cell *cell,
                                   const struct proxy_work *work, void **step)
{
    struct state *s = state;
    struct step *p = calloc(1, sizeof *p);
    if (!p)
        return HOST_FAILED(s->host, "out of memory");
    *p = (struct step){.state = s,
                       .cell = cell,
                       .work = work,
                       .computes = proxy_has(work, PROXY_COMPUTE),
                       .communicates = proxy_has(work, PROXY_COMM)};
    if ((p->computes && !allocate_compute(p)) || (p->communicates && !allocate_comm(p))) {
        say_memory(p);
        release_host(p);
        return WL_FAIL;
    }
    if (p->communicates)
        fill_collectives(p);
    *step = p;
    return WL_OK;
}

/* ==== running and checking a step ==== */

static struct gemm_shape shape_of(const struct proxy_compute *c)
{
    return (struct gemm_shape){(size_t)c->m, (size_t)c->n, (size_t)c->k, c->transpose_a,
                               c->transpose_b};
}

static void compute(const struct step *p, const struct proxy_compute *c)
{
    if (c->m) {
        struct gemm_shape shape = shape_of(c);
        gemm_run(p->gemm, &shape, (unsigned)c->count);
    } else {
        memcpy(p->kernel_to, p->kernel_from, (size_t)c->bytes / 2 + 1);
    }
}

/* gemm_run() returns when its GEMMs are done, so later tasks need no wait for them. */
static int do_task(struct step *p, const struct proxy_task *t)
{
    switch (t->verb) {
    case PROXY_COMPUTE:
        for (unsigned i = t->first; i < t->first + t->n; i++)
            compute(p, &p->work->compute[i]);
        return MPI_SUCCESS;
    case PROXY_COMM:
        comm_thread_post(&p->state->thread, &p->jobs[t->first]);
        return MPI_SUCCESS;
    case PROXY_WAIT:
        comm_thread_wait_for(&p->state->thread, t->first + 1);
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
        for (size_t t = 0; t < p->work->n_tasks && rc == MPI_SUCCESS; t++)
            rc = do_task(p, &p->work->task[t]);
    out->end_ns = now_ns();
    out->values[0] = (double)(out->end_ns - out->start_ns) * 1e-9 / iters;
    return mpi_try(p->state->host, rc, p->jobs ? p->jobs[0].how->name : "MPI");
}

static bool check_collective(struct step *p, const struct proxy_collective *c)
{
    const struct wl_host *host = p->state->host;
    struct payload_fault f;
    for (int i = 0; i < collective_parts(c->collective, host->rank, host->ranks); i++) {
        struct collective_part of =
            collective_part(c->collective, host->rank, host->ranks, (size_t)c->elements, i);
        const char *at = p->out + c->first + of.first * sizeof(float);
        if (payload_check_part(&p->payload, at, of.n, of.source, of.input_first, &f))
            continue;
        HOST_FAIL(host, "element %zu of the %s is %.9g, not %.9g, on rank %d (collective %td)",
                  of.first + f.element,
                  collective_reduces(c->collective) ? "reduced gradient" : "gathered parameters",
                  f.got, f.expected, host->rank, c - p->work->collective + 1);
        return false;
    }
    return true;
}

static enum wl_status verify_host(void *step)
{
    struct step *p = step;
    const struct wl_host *host = p->state->host;
    for (size_t i = 0; p->communicates && i < p->work->n_collectives; i++)
        if (!check_collective(p, &p->work->collective[i]))
            return WL_FAIL;
    if (!p->gemm)
        return WL_OK;
    struct gemm_shape shape = shape_of(p->last);
    if (gemm_check(p->gemm, &shape))
        return WL_OK;
    return HOST_FAILED(host, "the GEMM of m = %zu, n = %zu, k = %zu is wrong on rank %d", shape.m,
                       shape.n, shape.k, host->rank);
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
