/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/lines.h"

#include "wan_sync/transport/patience.h"
#include "wan_sync/transport/probe.h"
#include "wan_sync/transport/tcp.h"
#include "wan_sync/transport/transports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lines_open(struct lines *l, const struct wl_host *host, MPI_Comm comm)
{
    *l = (struct lines){.host = host, .comm = comm};
    pthread_mutex_init(&l->lock, NULL);
}

/* ---- one ---- */

static int open_mpi(struct lines *l, const struct line *line, struct wan_link **link)
{
    return link_mpi_open(link, line->over, l->why, sizeof l->why);
}

static int open_tcp(struct lines *l, const struct line *line, struct wan_link **link)
{
    const struct cell *c = &line->options;
    struct link_tcp_options options = {.streams = (int)c->streams,
                                       .interface = c->interface,
                                       .port = (int)c->port,
                                       .addresses = c->addresses,
                                       .congestion = c->congestion,
                                       .deadline_s = c->timeout,
                                       .unpaced = !c->pacing,
                                       .probe_s = c->probe};
    return link_tcp_open(link, l->host, &options, l->why, sizeof l->why);
}

static int (*const open_of[])(struct lines *, const struct line *, struct wan_link **) = {
    [CELL_BY_MPI] = open_mpi,
    [CELL_BY_TCP] = open_tcp,
};

/* The same answer on every rank. */
static bool all_agree(struct lines *l, bool good)
{
    int mine = good, all = 0;
    if (MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, l->comm) != MPI_SUCCESS || !all) {
        if (good)
            snprintf(l->why, sizeof l->why, "another rank has no link, or no memory");
        return false;
    }
    return true;
}

static bool by_mpi(const struct line *line)
{
    return line->inside || line->options.transport == CELL_BY_MPI;
}

static void shut(struct lines *l, struct line *line)
{
    pthread_mutex_lock(&l->lock);
    struct wan_link *link = line->link;
    line->link = NULL;
    pthread_mutex_unlock(&l->lock);
    if (line->engine && by_mpi(line) && (line->broken || l->met))
        engine_leave_slots(line->engine);
    engine_close(line->engine);
    line->engine = NULL;
    if (link)
        link->ops->close(link);
}

static bool open_line(struct lines *l, struct line *line)
{
    struct wan_link *link = NULL;
    bool good = open_of[line->options.transport](l, line, &link) == 0;
    line->told = (struct wan_link_stats){0};
    if (good && !(line->engine = engine_open(link))) {
        snprintf(l->why, sizeof l->why, "out of memory");
        good = false;
    }
    pthread_mutex_lock(&l->lock);
    line->link = link;
    pthread_mutex_unlock(&l->lock);
    if (all_agree(l, good)) {
        line->broken = false;
        return true;
    }
    shut(l, line);
    return false;
}

/* An agreement that a rank may miss: the others do not wait for ever, and never ask it again. */
static bool meet(struct lines *l, double timeout_s)
{
    uint64_t begin = now_ns(), end = begin + (uint64_t)(timeout_s * 1e9);
    MPI_Request request;
    /* It may never end, so it is tested. NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
    int done = 0, rc = MPI_Iallreduce(&l->meeting, &l->met, 1, MPI_INT, MPI_MAX, l->comm, &request);
    while (rc == MPI_SUCCESS && !done) {
        rc = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done || now_ns() >= end || atomic_load(&l->aborted))
            break;
        patience(begin, end);
    }
    l->lost = !done;
    /* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */
    if (l->lost && atomic_load(&l->aborted))
        snprintf(l->why, sizeof l->why, "stopped past the deadline");
    else if (l->lost)
        snprintf(l->why, sizeof l->why, "not every rank came within %g s", timeout_s);
    return done;
}

bool lines_mend(struct lines *l, struct line *line)
{
    if (l->lost)
        return false;
    l->meeting = line->broken;
    if (!meet(l, line->options.timeout))
        return false;
    if (!l->met)
        return true;
    shut(l, line);
    return open_line(l, line);
}

/* ---- what it is like ---- */

static bool measure(struct lines *l, struct line *line, double **into, size_t n,
                    bool (*probe)(struct wan_link *, MPI_Comm, double *))
{
    if (*into)
        return true;
    double *x = calloc(n, sizeof *x);
    bool good = all_agree(l, x != NULL);
    if (good && !probe(line->link, l->comm, x)) {
        snprintf(l->why, sizeof l->why, "%s", line->link->why);
        line->broken = true;
        good = false;
    }
    if (good)
        *into = x;
    else
        free(x);
    return good;
}

bool lines_measure_rtt(struct lines *l, struct line *line)
{
    size_t n = (size_t)l->host->ranks;
    return measure(l, line, &line->rtt_s, n * n, probe_rtt);
}

bool lines_measure_rate(struct lines *l, struct line *line)
{
    return measure(l, line, &line->rate_Bps, (size_t)l->host->ranks, probe_rate);
}

static bool gather_pairs(struct wan_link *link, MPI_Comm comm, double *pair_Bps)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    link_tcp_rates(link, pair_Bps + (size_t)rank * (size_t)ranks);
    return MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, pair_Bps, ranks, MPI_DOUBLE, comm) ==
           MPI_SUCCESS;
}

bool lines_measure_pairs(struct lines *l, struct line *line)
{
    size_t n = (size_t)l->host->ranks;
    return measure(l, line, &line->pair_Bps, n * n, gather_pairs);
}

/* ---- all of them ---- */

/* Each strategy has connections of its own: what one sends changes the windows and the estimated rates
 * that the next one would find. A ring of 1 MiB under BBR took 269 ms on those of a direct exchange,
 * and 193 ms on its own (4 sites, 100 Mbit/s, 30 ms). */
static bool same(const struct line *x, const struct line *y)
{
    const struct cell *a = &x->options, *b = &y->options;
    if (x->inside || y->inside)
        return x->inside == y->inside && a->site_ranks == b->site_ranks;
    if (a->transport != b->transport || a->transport == CELL_BY_MPI)
        return a->transport == b->transport;
    return a->strategy == b->strategy && a->streams == b->streams && a->port == b->port &&
           a->timeout == b->timeout && a->probe == b->probe && a->pacing == b->pacing &&
           !strcmp(a->interface, b->interface) && !strcmp(a->congestion, b->congestion);
}

static void drop(struct line *line)
{
    if (line->over != MPI_COMM_NULL)
        MPI_Comm_free(&line->over);
    free(line->rtt_s);
    free(line->rate_Bps);
    free(line->pair_Bps);
    free(line);
}

/* `over` becomes a communicator of the line's own. */
static struct line *take(struct lines *l, const struct line *wanted)
{
    struct line *line = l->first;
    while (line && !same(line, wanted))
        line = line->next;
    if (line)
        return lines_mend(l, line) ? line : NULL;
    line = calloc(1, sizeof *line);
    if (!line)
        snprintf(l->why, sizeof l->why, "out of memory");
    if (!all_agree(l, line != NULL) || !line) {
        free(line);
        return NULL;
    }
    *line = *wanted;
    bool good = MPI_Comm_dup(wanted->over, &line->over) == MPI_SUCCESS;
    if (!all_agree(l, good) || !open_line(l, line)) {
        drop(line);
        return NULL;
    }
    pthread_mutex_lock(&l->lock);
    line->next = l->first;
    l->first = line;
    pthread_mutex_unlock(&l->lock);
    return line;
}

struct line *lines_take(struct lines *l, const struct cell *c)
{
    return take(l, &(struct line){.options = *c, .over = l->comm});
}

struct line *lines_take_inside(struct lines *l, const struct cell *c, MPI_Comm inside)
{
    struct line wanted = {.options = *c, .inside = true, .over = inside};
    wanted.options.transport = CELL_BY_MPI;
    return take(l, &wanted);
}

void lines_close(struct lines *l)
{
    while (l->first) {
        struct line *line = l->first;
        l->first = line->next;
        shut(l, line);
        drop(line);
    }
    pthread_mutex_destroy(&l->lock);
}

void lines_abort(struct lines *l)
{
    atomic_store(&l->aborted, true);
    pthread_mutex_lock(&l->lock);
    for (struct line *line = l->first; line; line = line->next)
        if (line->link)
            line->link->ops->abort(line->link);
    pthread_mutex_unlock(&l->lock);
}
