/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/probe.h"

#include "common/clock.h"
#include "common/round_peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PINGS 4
#define PATIENCE_S 10.0
#define BLOCK_B ((size_t)64 << 10)
#define WINDOW 8u
/* Grows until the third quarter of the shortest flow lasts so long, or all of the longest. */
#define FLOW_S 0.3
#define FLOOD_S 3.0
#define BLOCKS_FIRST 16u
#define BLOCKS_MOST 4096u

struct probe {
    struct wan_link *link;
    MPI_Comm comm;
    int rank, ranks;
    uint64_t id;
};

static struct probe probe_of(struct wan_link *link, MPI_Comm comm)
{
    struct probe p = {.link = link, .comm = comm};
    MPI_Comm_rank(comm, &p.rank);
    MPI_Comm_size(comm, &p.ranks);
    return p;
}

static bool next(struct probe *p, struct wan_event *ev)
{
    int got = p->link->ops->next(p->link, ev, PATIENCE_S);
    if (got == 0)
        snprintf(p->link->why, sizeof p->link->why,
                 "no block moved for %g s while the link was "
                 "measured",
                 PATIENCE_S);
    return got > 0;
}

/* The same on every rank. */
static bool all(const struct probe *p, bool good)
{
    int mine = good, least = 0;
    MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, p->comm);
    if (good && !least)
        snprintf(p->link->why, sizeof p->link->why, "another rank could not measure the link");
    return least;
}

/* ---- round trips ---- */

static bool finish(struct probe *p, int events)
{
    struct wan_event ev;
    for (int i = 0; i < events; i++)
        if (!next(p, &ev))
            return false;
    return true;
}

/* One of the two: a byte there and back. */
static bool ping(struct probe *p, int peer, bool first, double *rtt_s)
{
    char out = 0, in;
    const struct wan_link_ops *ops = p->link->ops;
    uint64_t id = p->id++, begin = now_ns();
    if (ops->recv(p->link, peer, id, &in, 1) < 0)
        return false;
    if (first && ops->send(p->link, peer, id, &out, 1) < 0)
        return false;
    if (!finish(p, first ? 2 : 1))
        return false;
    *rtt_s = (double)(now_ns() - begin) * 1e-9;
    return first || (ops->send(p->link, peer, id, &out, 1) == 0 && finish(p, 1));
}

bool probe_rtt(struct wan_link *link, MPI_Comm comm, double *rtt_s)
{
    struct probe p = probe_of(link, comm);
    bool good = true;
    memset(rtt_s, 0, (size_t)(p.ranks * p.ranks) * sizeof *rtt_s);
    for (int round = 0; round < round_count(p.ranks); round++) {
        int peer = round_peer(p.rank, round, p.ranks);
        p.id = (uint64_t)round * PINGS; /* whether this rank sat out a round or not */
        MPI_Barrier(comm);
        if (peer < 0)
            continue;
        double rtt = INFINITY, last;
        for (int i = 0; i < PINGS && good; i++)
            if ((good = ping(&p, peer, p.rank < peer, &last)))
                rtt = fmin(rtt, last);
        if (good && p.rank < peer)
            rtt_s[p.rank * p.ranks + peer] = rtt_s[peer * p.ranks + p.rank] = rtt;
    }
    good = all(&p, good);
    MPI_Allreduce(MPI_IN_PLACE, rtt_s, p.ranks * p.ranks, MPI_DOUBLE, MPI_SUM, comm);
    return good;
}

bool probe_pings(struct wan_link *link, MPI_Comm comm, int peer, double *rtt_s, size_t n)
{
    struct probe p = probe_of(link, comm);
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        good = ping(&p, peer, p.rank < peer, &rtt_s[i]);
    return good;
}

/* ---- rates ---- */

struct flow { /* from one peer, and to it */
    uint32_t posted_in, got, posted_out, sent;
    uint64_t half_ns, late_ns; /* when half of it was there, and three quarters */
};

static bool top_up(struct probe *p, struct flow *f, int peer, char *in, const char *out, uint32_t n)
{
    const struct wan_link_ops *ops = p->link->ops;
    for (; f->posted_in < n && f->posted_in - f->got < WINDOW; f->posted_in++)
        if (ops->recv(p->link, peer, p->id + f->posted_in,
                      in + ((size_t)peer * WINDOW + f->posted_in % WINDOW) * BLOCK_B, BLOCK_B) < 0)
            return false;
    for (; f->posted_out < n && f->posted_out - f->sent < WINDOW; f->posted_out++)
        if (ops->send(p->link, peer, p->id + f->posted_out, out, BLOCK_B) < 0)
            return false;
    return true;
}

static void note_arrival(struct flow *f, uint32_t n)
{
    if (++f->got == n / 2)
        f->half_ns = now_ns();
    if (f->got == n - n / 4)
        f->late_ns = now_ns();
}

/* What came from each, by the third quarter: the first half has the start of every stream, and what
 * arrived before it was asked for; in the last quarter flows end, and the others have what they
 * leave. Returns the time of the shortest. */
static double rates_of(const struct probe *p, const struct flow *flow, uint32_t n, double *came)
{
    double shortest_s = INFINITY;
    uint32_t later = n - n / 4 - n / 2;
    for (int r = 0; r < p->ranks; r++) {
        double s = (double)(flow[r].late_ns - flow[r].half_ns) * 1e-9;
        came[r] = r == p->rank || s <= 0 ? 0 : (double)later * (double)BLOCK_B / s;
        if (r != p->rank)
            shortest_s = fmin(shortest_s, s);
    }
    return shortest_s;
}

/* n blocks to and from everybody. */
static bool flood(struct probe *p, struct flow *flow, char *memory, uint32_t n)
{
    const char *out = memory + (size_t)p->ranks * WINDOW * BLOCK_B;
    uint64_t left = 2 * (uint64_t)n * (uint64_t)(p->ranks - 1);
    memset(flow, 0, (size_t)p->ranks * sizeof *flow);
    for (int r = 0; r < p->ranks; r++)
        if (r != p->rank && !top_up(p, &flow[r], r, memory, out, n))
            return false;
    for (; left > 0; left--) {
        struct wan_event ev;
        if (!next(p, &ev))
            return false;
        struct flow *f = &flow[ev.peer];
        if (ev.done == WAN_SENT)
            f->sent++;
        else
            note_arrival(f, n);
        if (!top_up(p, f, ev.peer, memory, out, n))
            return false;
    }
    p->id += n;
    return true;
}

static bool enough(const struct probe *p, double shortest_s, double all_s)
{
    double x[] = {all_s, -shortest_s};
    MPI_Allreduce(MPI_IN_PLACE, x, 2, MPI_DOUBLE, MPI_MAX, p->comm);
    return x[0] > FLOOD_S || -x[1] > FLOW_S;
}

/* In place: from what came from each here, to what each can send (all that came from it anywhere)
 * or receive (all that came there), whichever is less. */
static void lesser_way(const struct probe *p, double *rate_Bps)
{
    double down = 0;
    for (int r = 0; r < p->ranks; r++)
        down += rate_Bps[r];
    MPI_Allreduce(MPI_IN_PLACE, rate_Bps, p->ranks, MPI_DOUBLE, MPI_SUM, p->comm);
    rate_Bps[p->rank] = fmin(rate_Bps[p->rank], down);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, rate_Bps, 1, MPI_DOUBLE, p->comm);
}

bool probe_rate(struct wan_link *link, MPI_Comm comm, double *rate_Bps)
{
    struct probe p = probe_of(link, comm);
    struct flow *flow = calloc((size_t)p.ranks, sizeof *flow);
    char *memory = calloc((size_t)p.ranks * WINDOW + 1, BLOCK_B);
    bool good = all(&p, flow && memory) && flow && memory;
    for (uint32_t n = BLOCKS_FIRST; good && n <= BLOCKS_MOST; n *= 2) {
        MPI_Barrier(comm);
        uint64_t begin = now_ns();
        good = all(&p, flood(&p, flow, memory, n));
        double shortest_s = rates_of(&p, flow, n, rate_Bps);
        if (good && enough(&p, shortest_s, (double)(now_ns() - begin) * 1e-9))
            break;
    }
    free(flow);
    free(memory);
    lesser_way(&p, rate_Bps);
    return good;
}
