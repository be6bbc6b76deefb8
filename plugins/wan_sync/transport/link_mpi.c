/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/link_mpi.h"

#include "common/clock.h"
#include "common/mpi_help.h"
#include "common/round_peer.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EAGER_NS 50000
#define LEAST_NS 20000
#define MOST_NS 500000
#define PART 64

/* MPI makes progress only inside its calls. At first poll again at once, for events that come soon; later
 * pause between polls, so that other processes can run. A pause is a small fraction of the wait so far, so
 * it adds only that fraction to the wait. The first poll was at since_ns, the last may be at end_ns. */
static void patience(uint64_t since_ns, uint64_t end_ns)
{
    uint64_t now = now_ns();
    if (now - since_ns < EAGER_NS || now >= end_ns) {
        sched_yield();
        return;
    }
    uint64_t ns = (now - since_ns) / PART;
    ns = ns < LEAST_NS ? LEAST_NS : ns;
    ns = ns < MOST_NS ? ns : MOST_NS;
    ns = end_ns - now < ns ? end_ns - now : ns;
    nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/* ==== the transport mpi ==== */

#define TAG_MASK 0x3fffffff /* MPI_TAG_UB is at least 2^31 - 1 with what is used today */

struct mpi_link {
    struct wan_link base;
    MPI_Comm comm;
    MPI_Request *request;
    struct wan_event *what; /* by request */
    size_t *bytes;
    int *finished; /* of MPI_Testsome */
    int n, cap;
    int done, done_n;  /* finished[done..done_n) were not told yet */
    uint64_t moved_ns; /* when something was posted or finished last */
    struct wan_link_stats stats;
    atomic_bool aborted;
};

static int failed(struct mpi_link *l, const char *what, int rc)
{
    char text[MPI_MAX_ERROR_STRING];
    snprintf(l->base.why, sizeof l->base.why, "mpi: %s: %.200s", what, mpi_error(rc, text));
    return -1;
}

static bool make_room(struct mpi_link *l)
{
    if (l->n < l->cap)
        return true;
    int cap = l->cap ? 2 * l->cap : 256;
    MPI_Request *request = realloc(l->request, (size_t)cap * sizeof *request);
    l->request = request ? request : l->request;
    struct wan_event *what = realloc(l->what, (size_t)cap * sizeof *what);
    l->what = what ? what : l->what;
    size_t *bytes = realloc(l->bytes, (size_t)cap * sizeof *bytes);
    l->bytes = bytes ? bytes : l->bytes;
    int *finished = realloc(l->finished, (size_t)cap * sizeof *finished);
    l->finished = finished ? finished : l->finished;
    if (!request || !what || !bytes || !finished) {
        snprintf(l->base.why, sizeof l->base.why, "mpi: no memory for %d requests", cap);
        return false;
    }
    l->cap = cap;
    return true;
}

static int tag_of(uint64_t id)
{
    return (int)(id & TAG_MASK);
}

static int post(struct mpi_link *l, enum wan_done done, int peer, uint64_t id, size_t bytes)
{
    l->what[l->n] = (struct wan_event){done, peer, id};
    l->bytes[l->n++] = bytes;
    l->moved_ns = now_ns();
    return 0;
}

static int send_mpi(struct wan_link *link, int peer, uint64_t id, const void *data, size_t bytes)
{
    struct mpi_link *l = (struct mpi_link *)link;
    if (!make_room(l))
        return -1;
    int rc = MPI_Isend(data, (int)bytes, MPI_BYTE, peer, tag_of(id), l->comm, &l->request[l->n]);
    return rc == MPI_SUCCESS ? post(l, WAN_SENT, peer, id, bytes) : failed(l, "MPI_Isend", rc);
}

static int recv_mpi(struct wan_link *link, int peer, uint64_t id, void *data, size_t bytes)
{
    struct mpi_link *l = (struct mpi_link *)link;
    if (!make_room(l))
        return -1;
    int rc = MPI_Irecv(data, (int)bytes, MPI_BYTE, peer, tag_of(id), l->comm, &l->request[l->n]);
    return rc == MPI_SUCCESS ? post(l, WAN_RECEIVED, peer, id, bytes) : failed(l, "MPI_Irecv", rc);
}

/* Finished requests are MPI_REQUEST_NULL; they are taken out once all were told. */
static void compact(struct mpi_link *l)
{
    int kept = 0;
    for (int i = 0; i < l->n; i++) {
        if (l->request[i] == MPI_REQUEST_NULL)
            continue;
        l->request[kept] = l->request[i];
        l->what[kept] = l->what[i];
        l->bytes[kept++] = l->bytes[i];
    }
    l->n = kept;
    l->done = l->done_n = 0;
}

static int tell(struct mpi_link *l, struct wan_event *ev)
{
    int i = l->finished[l->done++];
    *ev = l->what[i];
    *(ev->done == WAN_SENT ? &l->stats.sent_B : &l->stats.received_B) += l->bytes[i];
    return 1;
}

static int next_mpi(struct wan_link *link, struct wan_event *ev, double timeout_s)
{
    struct mpi_link *l = (struct mpi_link *)link;
    uint64_t end = now_ns() + (uint64_t)(timeout_s * 1e9);
    for (;;) {
        if (atomic_load(&l->aborted)) {
            snprintf(l->base.why, sizeof l->base.why, "mpi: aborted past the deadline");
            return -1;
        }
        if (l->done < l->done_n)
            return tell(l, ev);
        if (l->done_n > 0)
            compact(l);
        int rc = l->n ? MPI_Testsome(l->n, l->request, &l->done_n, l->finished, MPI_STATUSES_IGNORE)
                      : MPI_SUCCESS;
        if (rc != MPI_SUCCESS)
            return failed(l, "a block", rc);
        if (l->done_n == MPI_UNDEFINED)
            l->done_n = 0;
        if (l->done_n > 0) {
            l->moved_ns = now_ns();
            continue;
        }
        if (now_ns() >= end)
            return 0;
        patience(l->moved_ns, end);
    }
}

static void stats_mpi(const struct wan_link *link, struct wan_link_stats *stats)
{
    *stats = ((const struct mpi_link *)link)->stats;
}

static void abort_mpi(struct wan_link *link)
{
    atomic_store(&((struct mpi_link *)link)->aborted, true);
}

static void close_mpi(struct wan_link *link)
{
    struct mpi_link *l = (struct mpi_link *)link;
    compact(l);
    for (int i = 0; i < l->n; i++) { /* after a failure alone */
        if (l->what[i].done == WAN_RECEIVED)
            MPI_Cancel(&l->request[i]);
        MPI_Request_free(&l->request[i]);
    }
    MPI_Comm_free(&l->comm);
    free(l->request);
    free(l->what);
    free(l->bytes);
    free(l->finished);
    free(l);
}

static const struct wan_link_ops mpi_ops = {
    .name = "mpi",
    .send = send_mpi,
    .recv = recv_mpi,
    .next = next_mpi,
    .stats = stats_mpi,
    .abort = abort_mpi,
    .close = close_mpi,
};

int link_mpi_open(struct wan_link **link, MPI_Comm comm, char *why, size_t n)
{
    struct mpi_link *l = calloc(1, sizeof *l);
    if (!l) {
        snprintf(why, n, "out of memory");
        return -1;
    }
    l->base.ops = &mpi_ops;
    int rc = MPI_Comm_dup(comm, &l->comm);
    if (rc != MPI_SUCCESS) {
        failed(l, "MPI_Comm_dup", rc);
        snprintf(why, n, "%s", l->base.why);
        free(l);
        return -1;
    }
    MPI_Comm_set_errhandler(l->comm, MPI_ERRORS_RETURN);
    *link = &l->base;
    return 0;
}

/* ==== measuring ==== */

#define PINGS 4
#define STALLED_S 10.0
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
    int got = p->link->ops->next(p->link, ev, STALLED_S);
    if (got == 0)
        snprintf(p->link->why, sizeof p->link->why,
                 "no block moved for %g s while the link was "
                 "measured",
                 STALLED_S);
    return got > 0;
}

/* The same on every rank. */
static bool all(const struct probe *p, bool good)
{
    bool least = mpi_all(p->comm, good);
    if (good && !least)
        snprintf(p->link->why, sizeof p->link->why, "another rank could not measure the link");
    return least;
}

/* Before MPI waits for the others: a rank that left with an acknowledgement unsent, because the
 * connection had no room for it, would keep them waiting for it. */
static bool settle(const struct probe *p)
{
    return !p->link->ops->settle || p->link->ops->settle(p->link, STALLED_S) == 0;
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

bool link_measure_rtt(struct wan_link *link, MPI_Comm comm, double *rtt_s)
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
        good = good && settle(&p);
        if (good && p.rank < peer)
            rtt_s[p.rank * p.ranks + peer] = rtt_s[peer * p.ranks + p.rank] = rtt;
    }
    good = all(&p, good);
    MPI_Allreduce(MPI_IN_PLACE, rtt_s, p.ranks * p.ranks, MPI_DOUBLE, MPI_SUM, comm);
    return good;
}

bool link_measure_pings(struct wan_link *link, MPI_Comm comm, int peer, double *rtt_s, size_t n)
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
    return settle(p);
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

bool link_measure_rate(struct wan_link *link, MPI_Comm comm, double *rate_Bps)
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
