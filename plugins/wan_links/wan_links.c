/* SPDX-License-Identifier: Apache-2.0
 *
 * wan_links: what the links between sites give, pair by pair, over the transport of wan_sync: the
 * same ports. `gradsync links` runs it and turns its recording into [links].
 *
 * In a round every rank has one peer (common/collective.h), and the pairs, which share no rank,
 * measure at the same time. Cells with the same interface, port and timeout share one link. Nothing paces
 * its streams: so many as wan_sync has, under the congestion control of the kernel.
 *
 * One iteration sends 1 MiB: busbw is the rate of the slower direction of the slowest pair.
 */
#include "common/clock.h"
#include "common/collective.h"
#include "common/mpi_calls.h"
#include "wan_sync/transport/pool.h"
#include "wan_sync/transport/tcp.h"
#include "workload.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a cell: its parameters, metrics and streams ---- */

#define WARM_S 0.2

enum way { ALONE, ALL };

struct links_cell {
    int64_t round, port;
    int way;
    double measure, timeout;
    char interface[WL_TEXT_MAX];
};

enum metric { M_TIME, M_RATE, M_LOSS, M_RTT, M_SEGMENT, M_MTU, M_RECEIVED };

#define UNIT_B (1024.0 * 1024) /* bytes of one iteration */

static const char *const ways[] = {[ALONE] = "alone", [ALL] = "all", NULL};

#define P(member, type, role, ctype) #member, type, role, WL_FIELD(struct links_cell, member, ctype)
#define T(member, role) #member, WL_TEXT, role, WL_TEXT_FIELD(struct links_cell, member)
/* clang-format off */
static const struct wl_param params[] = {
    {P(round, WL_INT, WL_AXIS, int64_t), NULL, "1", 1, 65535, NULL,
     "round of the pairs; after n - 1 rounds (n if n is odd) each of n ranks has met all others"},
    {P(way, WL_CHOICE, WL_MODE, int), NULL, "alone", 0, 0, ways,
     "alone: each direction after the other; all: every rank to all others at once, in round 1"},
    {P(measure, WL_TIME, WL_AXIS, double), "s", "300ms", 0.05, 60, NULL,
     "time of a measurement, after a warm-up of 200 ms and six round trips"},
    {P(timeout, WL_TIME, WL_AXIS, double), "s", "30s", 0.1, 86400, NULL,
     "longest silence of a rank before the cell fails"},
    {T(interface, WL_AXIS), NULL, "", 0, 0, NULL,
     "network interface; empty: all but loopback"},
    {P(port, WL_INT, WL_AXIS, int64_t), NULL, "0", 0, 65535, NULL,
     "TCP port of the first rank on a node; the others add their local rank; 0: any free port"},
    {0}};
/* clang-format on */

static const struct wl_metric metrics[] = {
    [M_TIME] = {"time", "s", "time of 1 MiB in the slower direction of the slowest pair", WL_MAX},
    [M_RATE] = {"rate", "B/s", "payload that the rank sent to its peer", WL_EACH},
    [M_LOSS] = {"loss", "1", "share of the segments that the rank sent again", WL_EACH},
    [M_RTT] = {"rtt", "s", "shortest round trip to the peer that the kernel has seen", WL_EACH},
    [M_SEGMENT] = {"segment", "B", "payload of a full packet", WL_EACH},
    [M_MTU] = {"mtu", "B", "largest IP packet on the path to the peer", WL_EACH},
    [M_RECEIVED] = {"received", "B/s", "payload that came to the rank meanwhile; 0: it only sent",
                    WL_EACH},
    {0}};

static enum wl_status describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                               char *why, size_t why_size)
{
    const struct links_cell *c = cell;
    if (job->ranks < 2)
        snprintf(why, why_size, "%d rank has no link; set [launch] ranks to the number of sites",
                 job->ranks);
    else if (c->round > collective_rounds(job->ranks))
        snprintf(why, why_size, "round=%lld: %d ranks have %d rounds", (long long)c->round,
                 job->ranks, collective_rounds(job->ranks));
    else if (c->way == ALL && c->round > 1) {
        snprintf(why, why_size, "way=all has no round=%lld: all ranks meet in round 1",
                 (long long)c->round);
        return WL_SKIP;
    } else {
        shape->size_B = (uint64_t)UNIT_B;
        shape->busbw_factor = 1;
        shape->iteration_s = (c->way == ALONE ? 2 : 1) * (c->measure + 2 * WARM_S);
        shape->iters_min = shape->iters_max = 1;
        return WL_OK;
    }
    return WL_FAIL;
}

/* ---- the link ---- */

#define STREAMS 8 /* the default of wan_sync */
#define WARM_RTTS 6
#define NOTHING_S 1e-6 /* the time of a rank that sits out */

struct self {
    const struct wl_host *host;
    MPI_Comm comm;
    struct pool pool;
};

struct prepared {
    struct self *self;
    struct links_cell cell;
    struct pool_link *over;
};

static enum wl_status open_plugin(void **self, const struct wl_host *host)
{
    struct self *s = calloc(1, sizeof *s);
    if (!s || mpi_dup(MPI_COMM_WORLD, &s->comm) != MPI_SUCCESS) {
        host->fail(host->ctx, "no memory, or MPI_Comm_dup failed");
        free(s);
        return WL_FAIL;
    }
    s->host = host;
    pool_open(&s->pool, host, s->comm);
    *self = s;
    return WL_OK;
}

static void close_plugin(void *self)
{
    struct self *s = self;
    pool_close(&s->pool);
    MPI_Comm_free(&s->comm);
    free(s);
}

static enum wl_status prepare(void *self, const void *cell, void **prepared)
{
    struct self *s = self;
    const struct links_cell *c = cell;
    struct cell options = {.strategy = CELL_FIRST + WAN_DIRECT,
                           .streams = STREAMS,
                           .port = c->port,
                           .timeout = c->timeout};
    memcpy(options.interface, c->interface, sizeof options.interface);
    struct pool_link *over = pool_take(&s->pool, &options);
    struct prepared *p = over ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return HOST_FAILED(s->host, "%s", over ? "out of memory" : s->pool.why);
    *p = (struct prepared){.self = s, .cell = *c, .over = over};
    *prepared = p;
    return WL_OK;
}

static bool measure_flow(const struct prepared *p, struct link *link, int peer, bool send,
                         bool receive, double *v)
{
    const struct links_cell *c = &p->cell;
    struct tcp_flowed path = {0};
    struct tcp_flow f = {
        .peer = peer,
        .send = send,
        .receive = receive,
        .warm_s = WARM_S,
        .warm_rtts = WARM_RTTS,
        .measure_s = c->measure,
    };
    if (tcp_flow(link, &f, &path) < 0)
        return false;
    if (!send)
        return true;
    v[M_RATE] = path.rate_Bps;
    v[M_LOSS] = path.loss;
    v[M_RTT] = path.rtt_s;
    v[M_SEGMENT] = path.segment_B;
    v[M_MTU] = path.mtu_B;
    v[M_RECEIVED] = receive ? path.received_Bps : 0;
    v[M_TIME] = UNIT_B / fmax(path.rate_Bps, 1);
    return true;
}

static bool measure(struct prepared *p, struct link *link, double *v)
{
    const struct wl_host *h = p->self->host;
    const struct links_cell *c = &p->cell;
    int peer = collective_round_peer(h->rank, (int)c->round - 1, h->ranks);
    bool lower = h->rank < peer, good = true;
    MPI_Barrier(p->self->comm);
    if (c->way == ALL)
        return measure_flow(p, link, TCP_ALL, true, true, v);
    for (int direction = 0; direction < 2; direction++) {
        bool send = (direction == 0) == lower;
        if (good && peer >= 0)
            good = measure_flow(p, link, peer, send, !send, v);
        MPI_Barrier(p->self->comm);
    }
    return good;
}

static enum wl_status sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    struct prepared *p = prepared;
    struct self *s = p->self;
    struct link *link = p->over->link;
    (void)iters; /* one: describe() says so */
    if (!link)
        return HOST_FAILED(s->host, "the link failed in an earlier cell");
    memset(out->values, 0, (M_RECEIVED + 1) * sizeof *out->values);
    out->values[M_TIME] = NOTHING_S;
    out->start_ns = now_ns();
    bool good = measure(p, link, out->values);
    out->end_ns = now_ns();
    if (good)
        return WL_OK;
    HOST_FAIL(s->host, "%s", link->why);
    pool_fail(&s->pool, p->over);
    return WL_FAIL;
}

static enum wl_status verify(void *prepared)
{
    (void)prepared; /* it sends no data that could be wrong */
    return WL_OK;
}

static void abort_plugin(void *self)
{
    pool_abort(&((struct self *)self)->pool);
}

const struct wl_plugin wl_plugin_v1 = {
    .size = sizeof(struct wl_plugin),
    .name = "wan_links",
    .version = "1.4.0",
    .summary = "rate, round trip and loss of the links between sites, pair by pair",
    .params = params,
    .cell_size = sizeof(struct links_cell),
    .metrics = metrics,
    .describe = describe,
    .open = open_plugin,
    .close = close_plugin,
    .prepare = prepare,
    .release = free,
    .sample = sample,
    .verify = verify,
    .abort = abort_plugin,
};
