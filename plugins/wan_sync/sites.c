/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/sites.h"

#include "common/clock.h"
#include "common/host.h"
#include "common/mpi_help.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ==== which rank is at which site ==== */

static void number(struct sites *s)
{
    int at = 0;
    for (int r = 0; r < s->ranks; r++)
        s->place[r] = r;
    for (int site = 0; site < s->n; site++) {
        int first = at;
        for (int r = 0; r < s->ranks; r++)
            if (s->site_of[r] == site)
                s->in_order[at++] = r;
        s->leader[site] = s->in_order[first];
        s->largest = at - first > s->largest ? at - first : s->largest;
    }
}

static bool gather_hosts(struct sites *s, int rank, MPI_Comm comm)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    MPI_Get_processor_name(name, &length);
    snprintf(s->host[rank], sizeof s->host[rank], "%.*s", SITES_HOST_MAX - 1, name);
    return MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, s->host, SITES_HOST_MAX, MPI_CHAR,
                         comm) == MPI_SUCCESS;
}

bool sites_open(struct sites *s, const struct wl_host *host, MPI_Comm comm, int site_ranks)
{
    size_t n = (size_t)host->ranks;
    int mine = site_ranks ? host->rank / site_ranks : host->node;
    *s = (struct sites){.ranks = host->ranks, .inside = MPI_COMM_NULL};
    s->site_of = calloc(n, sizeof *s->site_of);
    s->leader = calloc(n, sizeof *s->leader);
    s->in_order = calloc(n, sizeof *s->in_order);
    s->place = calloc(n, sizeof *s->place);
    s->host = calloc(n, sizeof *s->host);
    bool good = s->site_of && s->leader && s->in_order && s->place && s->host;
    if (!mpi_all(comm, good) || !good ||
        MPI_Allgather(&mine, 1, MPI_INT, s->site_of, 1, MPI_INT, comm) != MPI_SUCCESS)
        return false;
    for (int r = 0; r < s->ranks; r++)
        s->n = s->site_of[r] >= s->n ? s->site_of[r] + 1 : s->n;
    number(s);
    return gather_hosts(s, host->rank, comm) &&
           MPI_Comm_split(comm, mine, host->rank, &s->inside) == MPI_SUCCESS;
}

const int *sites_inside(const struct sites *s, int rank, int *n)
{
    int site = s->site_of[rank], first = 0;
    while (s->in_order[first] != s->leader[site])
        first++;
    for (*n = 0; first + *n < s->ranks && s->site_of[s->in_order[first + *n]] == site;)
        ++*n;
    return s->in_order + first;
}

void sites_close(struct sites *s)
{
    if (s->inside != MPI_COMM_NULL)
        MPI_Comm_free(&s->inside);
    free(s->site_of);
    free(s->leader);
    free(s->in_order);
    free(s->place);
    free(s->host);
    *s = (struct sites){.inside = MPI_COMM_NULL};
}

/* ==== the GPUs of this rank's site ==== */

#define NAP_NS 20000 /* between polls: a small part of any exchange between sites */

/* ---- the site as a host of its own ---- */

static void site_barrier(void *ctx)
{
    MPI_Barrier(((struct inside_gpu *)ctx)->comm);
}

static void site_bcast(void *ctx, void *buf, size_t bytes, int root)
{
    MPI_Bcast(buf, (int)bytes, MPI_BYTE, root, ((struct inside_gpu *)ctx)->comm);
}

static void site_fail(void *ctx, const char *fmt, ...)
{
    struct inside_gpu *g = ctx;
    va_list args;
    va_start(args, fmt);
    vsnprintf(g->why, sizeof g->why, fmt, args);
    va_end(args);
}

static void site_note(void *ctx, const char *key, const char *value)
{
    const struct wl_host *host = ((struct inside_gpu *)ctx)->host;
    host->note(host->ctx, key, value);
}

static struct wl_host site_of(struct inside_gpu *g)
{
    struct wl_host site = *g->host;
    MPI_Comm_rank(g->comm, &site.rank);
    MPI_Comm_size(g->comm, &site.ranks);
    site.ctx = g;
    site.barrier = site_barrier;
    site.bcast = site_bcast;
    site.fail = site_fail;
    site.note = site_note;
    site.start = NULL;
    site.lost = NULL;
    return site;
}

/* ---- the backend ---- */

static const struct inside_backend *ops(const struct inside_gpu *g)
{
    return g->so.ops;
}

static enum wl_status same_site(struct inside_gpu *g, MPI_Comm inside)
{
    int how = MPI_UNEQUAL;
    MPI_Comm_compare(inside, g->comm, &how);
    if (how == MPI_CONGRUENT || how == MPI_IDENT)
        return WL_OK;
    snprintf(g->why, sizeof g->why,
             "inside=nccl needs one value of site_ranks per run: use a section for each value");
    return WL_SKIP;
}

enum wl_status inside_gpu_open(struct inside_gpu *g, const struct wl_host *host, MPI_Comm inside)
{
    void *state = NULL;
    if (atomic_load(&g->state))
        return same_site(g, inside);
    if (MPI_Comm_dup(inside, &g->comm) != MPI_SUCCESS) {
        snprintf(g->why, sizeof g->why, "MPI_Comm_dup failed");
        return WL_FAIL;
    }
    g->host = host;
    g->site = site_of(g);
    enum wl_status status = g->so.library
                                ? WL_OK
                                : beside_open(&g->so, "cuda", INSIDE_BACKEND_SYMBOL,
                                              sizeof(struct inside_backend), g->why, sizeof g->why);
    status = host_agree(&g->site, status, g->why);
    TRY(status, ops(g)->open(&state, &g->site));
    atomic_store(&g->state, state);
    if (status != WL_OK) { /* the next cell may divide the ranks otherwise */
        MPI_Comm_free(&g->comm);
        g->host = NULL;
    }
    return status;
}

/* The library stays loaded: CUDA and NCCL keep threads in it. */
void inside_gpu_close(struct inside_gpu *g)
{
    void *state = atomic_exchange(&g->state, NULL);
    if (state)
        ops(g)->close(state);
    if (g->host)
        MPI_Comm_free(&g->comm);
    g->host = NULL;
}

enum wl_status inside_gpu_reserve(struct inside_gpu *g, size_t count)
{
    return ops(g)->reserve(g->state, count, &g->data);
}

bool inside_gpu_fill(struct inside_gpu *g, size_t count)
{
    return ops(g)->fill(g->state, count) == WL_OK;
}

bool inside_gpu_fetch(struct inside_gpu *g, size_t count)
{
    return ops(g)->fetch(g->state, count) == WL_OK;
}

bool inside_gpu_inward(struct inside_gpu *g, size_t first, size_t n)
{
    return ops(g)->inward(g->state, first, n) == WL_OK;
}

bool inside_gpu_outward(struct inside_gpu *g, size_t first, size_t n)
{
    return ops(g)->outward(g->state, first, n) == WL_OK;
}

enum inside_state inside_gpu_poll(struct inside_gpu *g, double timeout_s)
{
    uint64_t end = now_ns() + (uint64_t)(timeout_s * 1e9);
    for (;;) {
        enum inside_state state = ops(g)->poll(g->state);
        if (state != INSIDE_BUSY || now_ns() >= end)
            return state;
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
}

void inside_gpu_abort(struct inside_gpu *g)
{
    void *state = atomic_load(&g->state);
    if (state)
        ops(g)->abort(state);
}

bool inside_gpu_lost(const struct inside_gpu *g)
{
    void *state = atomic_load(&g->state);
    return state && ops(g)->lost(state);
}
