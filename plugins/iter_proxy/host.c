/* SPDX-License-Identifier: Apache-2.0
 *
 * The host backend: GEMMs by the BLAS on the thread that calls compute(), buckets by MPI on a
 * communication thread. The thread serves every mode and every algorithm, the library's own
 * included, so that the modes go through the same code and differ in their schedule alone.
 *
 * MPI waits by spinning: with as many ranks as processors, a rank's communication thread takes the
 * processor from its own GEMMs while it waits for another rank. That is a property of the machine
 * under test, and mode=overlapped shows it; a second processor for each rank shows the overlap. The
 * recording notes the number of processors that a rank may use.
 */
#include "common/host.h"
#include "common/clock.h"
#include "common/mpi_calls.h"
#include "common/payload.h"
#include "common/rng.h"
#include "iter_proxy/backend.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 4096
#define PLACES 16 /* elements of a product that are checked */

struct step;

/* A thread that reduces the buckets of one iteration in their order, so that blocking algorithms overlap
 * the computation. From the first reduce() to the end of join(), no other thread of the process may call
 * MPI. So MPI_THREAD_SERIALIZED is enough. */
struct comm_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked, idle;
    struct step *step;
    int64_t queued, reduced; /* buckets, since the last join() */
    bool ends;
    int rc; /* the first failure since the last join() */
};

struct state {
    const struct wl_host *host;
    MPI_Comm comm; /* of the communication thread */
    struct comm_thread thread;
    /* The GEMMs' matrices, stored by rows; A and B are uniform in [-1, 1). Shared by the steps, which are
     * cells of one group; NULL: no step has needed them. */
    int steps;
    float *a, *b, *c;
};

struct step {
    struct state *state;
    const struct proxy_cell *cell;
    struct payload_words payload;
    float *in, *out; /* NULL: no bucket is reduced */
    void *scratch;   /* one: the buckets are reduced one after the other */
};

static const enum allreduce_kind kind_of[] = {
    [PROXY_ALGORITHM_AUTO] = ALLREDUCE_AUTO,
    [PROXY_RING] = ALLREDUCE_RING,
    [PROXY_TREE] = ALLREDUCE_TREE,
};

/* ==== the communication thread ==== */

static int reduce_bucket(struct step *p, int64_t b)
{
    const uint64_t first = proxy_bucket(p->cell, b);
    const struct mpi_call call = {.send = p->in + first,
                                  .recv = p->out + first,
                                  .count = (int)(proxy_bucket(p->cell, b + 1) - first),
                                  .element_B = sizeof(float),
                                  .type = MPI_FLOAT,
                                  .op = MPI_SUM,
                                  .comm = p->state->comm,
                                  .rank = p->state->host->rank,
                                  .ranks = p->state->host->ranks,
                                  .scratch = p->scratch};
    return mpi_allreduces[kind_of[p->cell->algorithm]].run(&call);
}

static void *reduce_queued(void *arg)
{
    struct comm_thread *t = arg;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (t->reduced == t->queued && !t->ends)
            pthread_cond_wait(&t->asked, &t->lock);
        if (t->reduced == t->queued)
            break;
        bool failed = t->rc != MPI_SUCCESS;
        pthread_mutex_unlock(&t->lock);
        int rc = failed ? MPI_SUCCESS : reduce_bucket(t->step, t->reduced);
        pthread_mutex_lock(&t->lock);
        if (rc != MPI_SUCCESS)
            t->rc = rc;
        if (++t->reduced == t->queued)
            pthread_cond_signal(&t->idle);
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
    pthread_cond_init(&t->idle, NULL);
    sigfillset(&all); /* signals are the runner's, on its own thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&t->thread, NULL, reduce_queued, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static enum wl_status reduce_host(void *step, int64_t b)
{
    struct step *p = step;
    struct comm_thread *t = &p->state->thread;
    (void)b; /* they come in their order */
    pthread_mutex_lock(&t->lock);
    t->step = p;
    t->queued++;
    pthread_cond_signal(&t->asked);
    pthread_mutex_unlock(&t->lock);
    return WL_OK;
}

/* compute() returns when its GEMMs are done, so the buckets alone are waited for. */
static enum wl_status join_host(void *step)
{
    struct step *p = step;
    struct comm_thread *t = &p->state->thread;
    pthread_mutex_lock(&t->lock);
    while (t->reduced < t->queued)
        pthread_cond_wait(&t->idle, &t->lock);
    int rc = t->rc;
    t->rc = MPI_SUCCESS;
    t->queued = t->reduced = 0;
    pthread_mutex_unlock(&t->lock);
    return mpi_try(p->state->host, rc, mpi_allreduces[kind_of[p->cell->algorithm]].name);
}

/* ==== GEMMs ==== */

static void *new_buffer(uint64_t bytes)
{
    return aligned_alloc(ALIGN, ((size_t)bytes + ALIGN - 1) / ALIGN * ALIGN);
}

/* False: out of memory. */
static bool take_operands(struct state *s, size_t n)
{
    float **const matrices[] = {&s->a, &s->b, &s->c};
    for (size_t i = 0; i < 3; i++) {
        if (!*matrices[i] && !(*matrices[i] = new_buffer(n * n * sizeof(float))))
            return false;
        for (size_t k = 0; k < n * n; k++)
            (*matrices[i])[k] =
                (float)(int32_t)(rng_mix(rng_mix(s->host->seed + i) + k) >> 32) * 0x1p-31f;
    }
    return true;
}

static enum wl_status compute_host(void *step, int64_t first, int64_t end)
{
    const struct step *p = step;
    const struct state *s = p->state;
    const int n = (int)p->cell->gemm;
    for (int64_t i = first; i < end; i++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, s->a, n, s->b, n, 0,
                    s->c, n);
    return WL_OK;
}

/* Compares elements spread over C with the product. Higham, "Accuracy and Stability of Numerical
 * Algorithms", 2nd ed., eq. 3.5: the error of an inner product is at most about n u sum |a| |b| in any
 * order of summation. */
static bool product_is_right(const struct state *s, size_t n)
{
    for (uint64_t i = 0; i < PLACES; i++) {
        const size_t row = rng_mix(i) % n, column = rng_mix(i + PLACES) % n;
        double sum = 0, magnitude = 0;
        for (size_t k = 0; k < n; k++) {
            double term = (double)s->a[row * n + k] * (double)s->b[k * n + column];
            sum += term;
            magnitude += fabs(term);
        }
        double bound = (double)(n + 1) * (double)FLT_EPSILON * magnitude;
        if (!(fabs((double)s->c[row * n + column] - sum) <= bound)) /* NaN, too */
            return false;
    }
    return true;
}

/* ==== a step ==== */

static void release_host(void *step)
{
    struct step *p = step;
    struct state *s = p->state;
    if (--s->steps == 0) {
        free(s->a);
        free(s->b);
        free(s->c);
        s->a = s->b = s->c = NULL;
    }
    free(p->in);
    free(p->out);
    free(p->scratch);
    free(p);
}

static enum wl_status prepare_host(void *state, const struct proxy_cell *c, void **step)
{
    struct state *s = state;
    struct step *p = calloc(1, sizeof *p);
    if (!p)
        return HOST_FAILED(s->host, "out of memory");
    p->state = s;
    p->cell = c;
    s->steps++;
    bool good = !proxy_computes(c) || s->c || take_operands(s, (size_t)c->gemm);
    if (good && proxy_communicates(c)) {
        const size_t most = (size_t)(c->size / sizeof(float) / (uint64_t)c->buckets) + 1;
        const int ranks = s->host->ranks;
        p->in = new_buffer(c->size);
        p->out = new_buffer(c->size);
        p->scratch =
            malloc(1 + mpi_scratch_B(kind_of[c->algorithm], most, sizeof(float), ranks, false));
        good = p->in && p->out && p->scratch;
        payload_words_make(&p->payload, PAYLOAD_FP32, s->host->rank, ranks, false, 1);
        if (good)
            payload_fill(&p->payload, p->in, (size_t)(c->size / sizeof(float)));
    }
    if (!good) {
        HOST_FAIL(
            s->host, "no memory: %.1f MiB for the GEMMs, %.1f MiB for the buckets; a smaller size",
            (double)(3 * c->gemm * c->gemm) * sizeof(float) / 0x1p20, (double)c->size * 2 / 0x1p20);
        release_host(p);
        return WL_FAIL;
    }
    *step = p;
    return WL_OK;
}

static enum wl_status poison_host(void *step)
{
    struct step *p = step; /* all bits set: NaN */
    if (proxy_computes(p->cell))
        memset(p->state->c, 0xff, (size_t)(p->cell->gemm * p->cell->gemm) * sizeof(float));
    if (p->out)
        memset(p->out, 0xff, (size_t)p->cell->size);
    return WL_OK;
}

static enum wl_status start_host(void *step, struct wl_sample *out)
{
    const struct wl_host *host = ((struct step *)step)->state->host;
    host->start(host->ctx);
    out->start_ns = now_ns();
    return WL_OK;
}

static enum wl_status stop_host(void *step, unsigned iters, enum wl_status status,
                                struct wl_sample *out)
{
    (void)step;
    out->end_ns = now_ns();
    out->values[0] = (double)(out->end_ns - out->start_ns) * 1e-9 / iters;
    return status;
}

static enum wl_status verify_host(void *step)
{
    struct step *p = step;
    const struct wl_host *host = p->state->host;
    struct payload_fault f;
    if (p->out && !payload_check(&p->payload, p->out, (size_t)(p->cell->size / sizeof(float)), &f))
        return HOST_FAILED(host,
                           "element %zu of the reduced gradient is %.9g, not %.9g, on rank %d",
                           f.element, f.got, f.expected, host->rank);
    if (proxy_computes(p->cell) && !product_is_right(p->state, (size_t)p->cell->gemm))
        return HOST_FAILED(host, "the GEMM of n = %lld is wrong on rank %d",
                           (long long)p->cell->gemm, host->rank);
    return WL_OK;
}

/* ==== once a process ==== */

static void free_state(struct state *s)
{
    if (s->comm != MPI_COMM_NULL)
        MPI_Comm_free(&s->comm);
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
    s->comm = MPI_COMM_NULL;
    enum wl_status status = mpi_try(host, mpi_dup(MPI_COMM_WORLD, &s->comm), "MPI_Comm_dup");
    if (status == WL_OK && comm_thread_start(&s->thread) != 0)
        status = HOST_FAILED(host, "the communication thread cannot be started");
    if (status != WL_OK) {
        free_state(s);
        return status;
    }
    openblas_set_num_threads(1);
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        char text[16];
        snprintf(text, sizeof text, "%d", CPU_COUNT(&set));
        host->note(host->ctx, "processors", text);
    }
    *state = s;
    return WL_OK;
}

static void close_host(void *state)
{
    struct state *s = state;
    pthread_mutex_lock(&s->thread.lock);
    s->thread.ends = true;
    pthread_cond_signal(&s->thread.asked);
    pthread_mutex_unlock(&s->thread.lock);
    pthread_join(s->thread.thread, NULL);
    free_state(s);
}

const struct proxy_backend proxy_backend_host = {
    .size = sizeof(struct proxy_backend),
    .name = "host",
    .open = open_host,
    .close = close_host,
    .prepare = prepare_host,
    .release = release_host,
    .poison = poison_host,
    .start = start_host,
    .compute = compute_host,
    .reduce = reduce_host,
    .join = join_host,
    .stop = stop_host,
    .verify = verify_host,
};
