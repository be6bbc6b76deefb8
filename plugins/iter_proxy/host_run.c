/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/host.h"

#include "common/clock.h"
#include "common/collective.h"

#include <string.h>

enum wl_status host_failed(const struct state *s, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    MPI_Error_string(code, text, &n);
    s->host->fail(s->host->ctx, "%s: %s", what, text);
    return WL_FAIL;
}

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

enum wl_status run_host(void *step, unsigned iters, struct wl_sample *out)
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
    return rc == MPI_SUCCESS ? WL_OK
                             : host_failed(p->state, p->jobs ? p->jobs[0].how->name : "MPI", rc);
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
        host->fail(host->ctx,
                   "element %zu of the %s is %.9g, not %.9g, on rank %d (collective %td)",
                   of.first + f.element,
                   collective_reduces(c->collective) ? "reduced gradient" : "gathered parameters",
                   f.got, f.expected, host->rank, c - p->work->collective + 1);
        return false;
    }
    return true;
}

enum wl_status verify_host(void *step)
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
    host->fail(host->ctx, "the GEMM of m = %zu, n = %zu, k = %zu is wrong on rank %d", shape.m,
               shape.n, shape.k, host->rank);
    return WL_FAIL;
}
