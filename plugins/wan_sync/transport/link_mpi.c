/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/link_mpi.h"

#include "common/clock.h"
#include "common/collective.h"
#include "common/mpi_calls.h"

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

struct posted {
    struct link_event event;
    size_t bytes;
};

struct mpi_link {
    struct link base;
    MPI_Comm comm;
    MPI_Request *request;
    struct posted *posted; /* by request */
    int *finished;         /* of MPI_Testsome */
    int n, cap;
    int done, done_n;  /* finished[done..done_n) were not told yet */
    uint64_t moved_ns; /* when something was posted or finished last */
    struct link_stats stats;
    atomic_bool aborted;
};

static int failed(struct mpi_link *l, const char *what, int rc)
{
    mpi_good(rc, what, l->base.why, sizeof l->base.why);
    return -1;
}

static bool make_room(struct mpi_link *l)
{
    if (l->n < l->cap)
        return true;
    int cap = l->cap ? 2 * l->cap : 256;
    MPI_Request *request = realloc(l->request, (size_t)cap * sizeof *request);
    l->request = request ? request : l->request;
    struct posted *posted = realloc(l->posted, (size_t)cap * sizeof *posted);
    l->posted = posted ? posted : l->posted;
    int *finished = realloc(l->finished, (size_t)cap * sizeof *finished);
    l->finished = finished ? finished : l->finished;
    if (!request || !posted || !finished) {
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

static int post(struct mpi_link *l, enum link_done done, int peer, uint64_t id, size_t bytes)
{
    l->posted[l->n++] = (struct posted){{done, peer, id}, bytes};
    l->moved_ns = now_ns();
    return 0;
}

static int send_mpi(struct link *link, int peer, uint64_t id, const void *data, size_t bytes)
{
    struct mpi_link *l = (struct mpi_link *)link;
    if (!make_room(l))
        return -1;
    int rc = MPI_Isend(data, (int)bytes, MPI_BYTE, peer, tag_of(id), l->comm, &l->request[l->n]);
    return rc == MPI_SUCCESS ? post(l, LINK_SENT, peer, id, bytes) : failed(l, "MPI_Isend", rc);
}

static int recv_mpi(struct link *link, int peer, uint64_t id, void *data, size_t bytes)
{
    struct mpi_link *l = (struct mpi_link *)link;
    if (!make_room(l))
        return -1;
    int rc = MPI_Irecv(data, (int)bytes, MPI_BYTE, peer, tag_of(id), l->comm, &l->request[l->n]);
    return rc == MPI_SUCCESS ? post(l, LINK_RECEIVED, peer, id, bytes) : failed(l, "MPI_Irecv", rc);
}

/* Finished requests are MPI_REQUEST_NULL; they are taken out once all were told. */
static void compact(struct mpi_link *l)
{
    int kept = 0;
    for (int i = 0; i < l->n; i++) {
        if (l->request[i] == MPI_REQUEST_NULL)
            continue;
        l->request[kept] = l->request[i];
        l->posted[kept++] = l->posted[i];
    }
    l->n = kept;
    l->done = l->done_n = 0;
}

static int tell(struct mpi_link *l, struct link_event *ev)
{
    const struct posted *p = &l->posted[l->finished[l->done++]];
    *ev = p->event;
    *(ev->done == LINK_SENT ? &l->stats.sent_B : &l->stats.received_B) += p->bytes;
    return 1;
}

static int next_mpi(struct link *link, struct link_event *ev, double timeout_s)
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
            return failed(l, "a block over MPI", rc);
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

static void stats_mpi(const struct link *link, struct link_stats *stats)
{
    *stats = ((const struct mpi_link *)link)->stats;
}

static void abort_mpi(struct link *link)
{
    atomic_store(&((struct mpi_link *)link)->aborted, true);
}

static void close_mpi(struct link *link)
{
    struct mpi_link *l = (struct mpi_link *)link;
    compact(l);
    for (int i = 0; i < l->n; i++) { /* after a failure alone */
        if (l->posted[i].event.done == LINK_RECEIVED)
            MPI_Cancel(&l->request[i]);
        MPI_Request_free(&l->request[i]);
    }
    MPI_Comm_free(&l->comm);
    free(l->request);
    free(l->posted);
    free(l->finished);
    free(l);
}

static const struct link_ops mpi_ops = {
    .name = "mpi",
    .send = send_mpi,
    .recv = recv_mpi,
    .next = next_mpi,
    .stats = stats_mpi,
    .abort = abort_mpi,
    .close = close_mpi,
};

int link_mpi_open(struct link **link, MPI_Comm comm, char *why, size_t n)
{
    struct mpi_link *l = calloc(1, sizeof *l);
    if (!l) {
        snprintf(why, n, "out of memory");
        return -1;
    }
    l->base.ops = &mpi_ops;
    if (!mpi_good(mpi_dup(comm, &l->comm), "MPI_Comm_dup", why, n)) {
        free(l);
        return -1;
    }
    *link = &l->base;
    return 0;
}

/* ==== round trips ==== */

#define PINGS 4
#define STALLED_S 10.0

/* Ends with an event of a block, or with the reason why there is none. */
static bool finish(struct link *link, int events)
{
    struct link_event unused;
    for (int i = 0; i < events; i++) {
        int got = link->ops->next(link, &unused, STALLED_S);
        if (got == 0)
            snprintf(link->why, sizeof link->why,
                     "no block moved for %g s while the link was measured", STALLED_S);
        if (got <= 0)
            return false;
    }
    return true;
}

/* One of the two: a byte there and back. */
static bool ping(struct link *link, int peer, uint64_t id, bool first, double *rtt_s)
{
    char out = 0, in;
    uint64_t begin = now_ns();
    if (link->ops->recv(link, peer, id, &in, 1) < 0)
        return false;
    if (first && link->ops->send(link, peer, id, &out, 1) < 0)
        return false;
    if (!finish(link, first ? 2 : 1))
        return false;
    *rtt_s = (double)(now_ns() - begin) * 1e-9;
    return first || (link->ops->send(link, peer, id, &out, 1) == 0 && finish(link, 1));
}

bool link_measure_pings(struct link *link, MPI_Comm comm, int peer, double *rtt_s, size_t n)
{
    int rank;
    bool good = true;
    MPI_Comm_rank(comm, &rank);
    for (size_t i = 0; i < n && good; i++)
        good = ping(link, peer, i, rank < peer, &rtt_s[i]);
    return good;
}

bool link_measure_rtt(struct link *link, MPI_Comm comm, double *rtt_s)
{
    int rank, ranks;
    bool good = true;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    memset(rtt_s, 0, (size_t)(ranks * ranks) * sizeof *rtt_s);
    for (int round = 0; round < collective_rounds(ranks); round++) {
        int peer = collective_round_peer(rank, round, ranks);
        MPI_Barrier(comm);
        if (peer < 0)
            continue;
        double some_s[PINGS], least_s = INFINITY;
        good = good && link_measure_pings(link, comm, peer, some_s, PINGS);
        for (int i = 0; i < PINGS && good; i++)
            least_s = fmin(least_s, some_s[i]);
        /* Before MPI waits for the others: a rank that left with an acknowledgement unsent, because
         * the connection had no room for it, would keep them waiting for it. */
        good = good && (!link->ops->settle || link->ops->settle(link, STALLED_S) == 0);
        if (good && rank < peer)
            rtt_s[rank * ranks + peer] = rtt_s[peer * ranks + rank] = least_s;
    }
    good = mpi_all_or(comm, good, "another rank could not measure the link", link->why,
                      sizeof link->why);
    MPI_Allreduce(MPI_IN_PLACE, rtt_s, ranks * ranks, MPI_DOUBLE, MPI_SUM, comm);
    return good;
}
