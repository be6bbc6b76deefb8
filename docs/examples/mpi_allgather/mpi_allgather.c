/* SPDX-License-Identifier: Apache-2.0
 *
 * mpi_allgather: every rank ends with the parts of all, MPI's own way against a ring.
 *
 * A plugin outside gradsync's tree: it includes workload.h, and is built by what `make install` put
 * under the prefix (CONTRIBUTING.md). The library under it is its own: here MPI, whose ranks are
 * those that the runner starts.
 */
#include "workload.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ALGORITHM_AUTO, ALGORITHM_RING };
static const char *const algorithms[] = {
    [ALGORITHM_AUTO] = "auto", [ALGORITHM_RING] = "ring", NULL};

/* What a user sets; the runner fills it from the table below. */
struct cell {
    uint64_t size;
    int algorithm;
};

static const struct wl_param params[] = {
    {"size", WL_SIZE, WL_AXIS, WL_FIELD(struct cell, size, uint64_t), "B", "64KiB", 1, 2e9, NULL,
     "bytes that every rank ends with; each rank gives as many as the others"},
    {"algorithm", WL_CHOICE, WL_CONFIG, WL_FIELD(struct cell, algorithm, int), NULL, "auto", 0, 0,
     algorithms, "MPI_Allgather as the library likes it, or a ring of point to point"},
    {0}};

static const struct wl_metric metrics[] = {{"time", "s", "one all-gather", WL_MAX}, {0}};

struct self {
    const struct wl_host *host;
    MPI_Comm comm; /* of this plugin alone */
};

struct prepared {
    struct self *self;
    struct cell cell;
    int part_B; /* of one rank */
    unsigned char *mine, *all;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- what a cell is ---- */

static enum wl_status describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                               char *why, size_t why_size)
{
    const struct cell *c = cell;
    if (job->ranks < 2) {
        snprintf(why, why_size, "one rank has nothing to gather: start 2 or more");
        return WL_FAIL;
    }
    if (c->size == 0 || c->size % (uint64_t)job->ranks) {
        snprintf(why, why_size, "size=%llu is not a multiple of the %d ranks",
                 (unsigned long long)c->size, job->ranks);
        return WL_FAIL;
    }
    shape->size_B = c->size;
    /* A rank receives what the others give: (n-1)/n of the buffer. */
    shape->busbw_factor = (double)(job->ranks - 1) / job->ranks;
    shape->host_B = c->size + c->size / (uint64_t)job->ranks;
    shape->iteration_s = 2e-6 + (double)c->size / 5e9;
    return WL_OK;
}

/* ---- open and close ---- */

static enum wl_status failed(const struct self *self, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    MPI_Error_string(code, text, &n);
    self->host->fail(self->host->ctx, "%s: %s", what, text);
    return WL_FAIL;
}

static enum wl_status open_plugin(void **self, const struct wl_host *host)
{
    struct self *s = calloc(1, sizeof *s);
    if (!s) {
        host->fail(host->ctx, "out of memory");
        return WL_FAIL;
    }
    s->host = host;
    int rc = MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
    if (rc != MPI_SUCCESS) {
        enum wl_status status = failed(s, "MPI_Comm_dup", rc);
        free(s);
        return status;
    }
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    *self = s;
    return WL_OK;
}

static void close_plugin(void *self)
{
    struct self *s = self;
    MPI_Comm_free(&s->comm);
    free(s);
}

/* ---- prepare and release ---- */

/* Another byte in another place of another rank: parts that are swapped or shifted are seen. */
static unsigned char byte_of(int rank, size_t i)
{
    uint64_t x = ((uint64_t)rank << 40) + i + 1;
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    return (unsigned char)(x >> 56);
}

static void release(void *prepared)
{
    struct prepared *p = prepared;
    free(p->mine);
    free(p->all);
    free(p);
}

static enum wl_status prepare(void *self, const void *cell, void **prepared)
{
    struct self *s = self;
    struct prepared *p = calloc(1, sizeof *p);
    if (!p) {
        s->host->fail(s->host->ctx, "out of memory");
        return WL_FAIL;
    }
    p->self = s;
    p->cell = *(const struct cell *)cell;
    p->part_B = (int)(p->cell.size / (uint64_t)s->host->ranks);
    p->mine = malloc((size_t)p->part_B);
    p->all = malloc(p->cell.size);
    if (!p->mine || !p->all) {
        s->host->fail(s->host->ctx, "no memory for buffers of %llu bytes",
                      (unsigned long long)p->cell.size);
        release(p);
        return WL_FAIL;
    }
    for (size_t i = 0; i < (size_t)p->part_B; i++)
        p->mine[i] = byte_of(s->host->rank, i);
    *prepared = p;
    return WL_OK;
}

/* ---- the operation ---- */

/* In each of n-1 rounds a rank hands on the part that it got in the one before. */
static int ring(const struct prepared *p)
{
    const struct wl_host *h = p->self->host;
    int n = h->ranks, next = (h->rank + 1) % n, before = (h->rank + n - 1) % n, rc = MPI_SUCCESS;
    size_t part = (size_t)p->part_B;
    memcpy(p->all + part * (size_t)h->rank, p->mine, part);
    for (int round = 0; round < n - 1 && rc == MPI_SUCCESS; round++) {
        size_t out = (size_t)((h->rank + n - round) % n), in = (size_t)((before + n - round) % n);
        rc = MPI_Sendrecv(p->all + part * out, p->part_B, MPI_BYTE, next, round, p->all + part * in,
                          p->part_B, MPI_BYTE, before, round, p->self->comm, MPI_STATUS_IGNORE);
    }
    return rc;
}

static int gather(const struct prepared *p)
{
    if (p->cell.algorithm == ALGORITHM_RING)
        return ring(p);
    return MPI_Allgather(p->mine, p->part_B, MPI_BYTE, p->all, p->part_B, MPI_BYTE, p->self->comm);
}

static enum wl_status sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    struct prepared *p = prepared;
    memset(p->all, 0xa5,
           p->cell.size); /* untimed: what verify() finds was gathered in this sample */
    int rc = MPI_Barrier(p->self->comm);
    out->start_ns = now_ns();
    for (unsigned i = 0; i < iters && rc == MPI_SUCCESS; i++)
        rc = gather(p);
    out->end_ns = now_ns();
    out->values[0] = (double)(out->end_ns - out->start_ns) * 1e-9 / iters;
    return rc == MPI_SUCCESS ? WL_OK : failed(p->self, algorithms[p->cell.algorithm], rc);
}

static enum wl_status verify(void *prepared)
{
    const struct prepared *p = prepared;
    const struct wl_host *h = p->self->host;
    for (int rank = 0; rank < h->ranks; rank++)
        for (size_t i = 0; i < (size_t)p->part_B; i++) {
            unsigned char got = p->all[(size_t)rank * (size_t)p->part_B + i];
            if (got != byte_of(rank, i)) {
                h->fail(h->ctx, "byte %zu of rank %d is %d, not %d", i, rank, got,
                        byte_of(rank, i));
                return WL_FAIL;
            }
        }
    return WL_OK;
}

const struct wl_plugin wl_plugin_v1 = {
    .size = sizeof(struct wl_plugin),
    .name = "mpi_allgather",
    .version = "1.0.0",
    .summary = "all-gather of host memory: MPI's own against a ring",
    .params = params,
    .cell_size = sizeof(struct cell),
    .metrics = metrics,
    .describe = describe,
    .open = open_plugin,
    .close = close_plugin,
    .prepare = prepare,
    .release = release,
    .sample = sample,
    .verify = verify,
};
