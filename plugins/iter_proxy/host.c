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
#include "iter_proxy/host.h"

#include "common/mpi_collectives.h"
#include "common/host.h"

#include <cblas.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum allreduce_kind how[] = {
    [PROXY_ALGORITHM_AUTO] = ALLREDUCE_AUTO,
    [PROXY_RING] = ALLREDUCE_RING,
    [PROXY_TREE] = ALLREDUCE_TREE,
    [PROXY_RECURSIVE_DOUBLING] = ALLREDUCE_RECURSIVE_DOUBLING,
    [PROXY_RABENSEIFNER] = ALLREDUCE_RABENSEIFNER,
};

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
    if (!s)
        return HOST_FAILED(host, "out of memory");
    s->host = host;
    s->buckets = MPI_COMM_NULL;
    int rc = open_comm(s);
    enum wl_status status = rc == MPI_SUCCESS ? WL_OK : host_failed(s, "MPI_Comm_dup", rc);
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

/* ---- a step ---- */

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
    return allreduce_scratch_B(kind, most, sizeof(float), p->state->host->ranks, false);
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
    p->jobs[i] = (struct comm_job){.how = c->collective ? &collectives_mpi[c->collective]
                                                        : &allreduces[how[p->cell->algorithm]],
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
        .type = PAYLOAD_FLOAT32, .op = PAYLOAD_SUM, .ranks = p->state->host->ranks};
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
    host->fail(host->ctx,
               "%sno memory: %.1f MiB for the largest GEMM, %.1f MiB for collectives; a smaller %s",
               where, (double)(o->a + o->b + o->c) * sizeof(float) / 0x1p20,
               (double)p->work->buffer_B * 2 / 0x1p20,
               p->cell->step[0] ? "scale or batch" : "size");
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
                       .computes = work_has(work, PROXY_COMPUTE),
                       .communicates = work_has(work, PROXY_COMM)};
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
