/* SPDX-License-Identifier: Apache-2.0
 *
 * The transport mpi, which is MPI point to point; the links of a process, over this transport or over
 * tcp; and the watch over the connections of a process.
 */
#include "wan_sync/transport/pool.h"

#include "common/clock.h"
#include "common/collective.h"
#include "common/mpi_calls.h"
#include "wan_sync/transport/tcp.h"

#include <dirent.h>
#include <linux/tcp.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* ==== the transport mpi ==== */

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

#define TAG_MASK 0x3fffffff /* tags stay below MPI_TAG_UB, which is 2^31 - 1 in Open MPI */

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
    if (!request || !posted || !finished)
        return HOST_WHY(false, l->base.why, sizeof l->base.why, "mpi: no memory for %d requests",
                        cap);
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

static int next_mpi(struct link *link, struct link_event *ev, double timeout_s)
{
    struct mpi_link *l = (struct mpi_link *)link;
    uint64_t end = now_ns() + (uint64_t)(timeout_s * 1e9);
    for (;;) {
        if (atomic_load(&l->aborted))
            return LINK_WHY(l->base.why, sizeof l->base.why, "mpi: aborted past the deadline");
        if (l->done < l->done_n) {
            const struct posted *p = &l->posted[l->finished[l->done++]];
            *ev = p->event;
            *(ev->done == LINK_SENT ? &l->stats.sent_B : &l->stats.received_B) += p->bytes;
            return 1;
        }
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

static int open_mpi(struct link **link, MPI_Comm comm, char *why, size_t n)
{
    struct mpi_link *l = calloc(1, sizeof *l);
    if (!l)
        return LINK_WHY(why, n, "out of memory");
    l->base.ops = &mpi_ops;
    if (!mpi_good(mpi_dup(comm, &l->comm), "MPI_Comm_dup", why, n)) {
        free(l);
        return -1;
    }
    *link = &l->base;
    return 0;
}

/* ==== round trips over a link of any transport, with nothing else under way on it ==== */

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

bool pool_pings(struct link *link, int rank, int peer, double *rtt_s, size_t n)
{
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        good = ping(link, peer, i, rank < peer, &rtt_s[i]);
    return good;
}

/* The shortest of a few round trips of each pair. */
static bool probe_rtt(struct link *link, MPI_Comm comm, double *rtt_s)
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
        good = good && pool_pings(link, rank, peer, some_s, PINGS);
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

/* ==== the links of a process ==== */

void pool_open(struct pool *p, const struct wl_host *host, MPI_Comm comm)
{
    *p = (struct pool){.host = host, .comm = comm};
    pthread_mutex_init(&p->lock, NULL);
}

/* ---- one link ---- */

/* The same answer on every rank. */
static bool all_have(struct pool *p, bool good)
{
    return mpi_all_or(p->comm, good, "another rank has no link, or no memory", p->why,
                      sizeof p->why);
}

static bool by_mpi(const struct pool_link *k)
{
    return k->inside || k->options.transport == CELL_BY_MPI;
}

static bool open_link(struct pool *p, const struct pool_link *k, struct link **link)
{
    const struct cell *c = &k->options;
    struct tcp_options options = {.streams = (int)c->streams,
                                  .interface = c->interface,
                                  .port = (int)c->port,
                                  .addresses = c->addresses,
                                  .congestion = c->congestion,
                                  .deadline_s = c->timeout,
                                  .unpaced = !c->pacing,
                                  .probe_s = c->probe};
    return by_mpi(k) ? !open_mpi(link, k->over, p->why, sizeof p->why)
                     : !tcp_open(link, p->host, &options, p->why, sizeof p->why);
}

static void set_link(struct pool *p, struct pool_link *k, struct link *link)
{
    pthread_mutex_lock(&p->lock);
    k->link = link;
    pthread_mutex_unlock(&p->lock);
}

static void shut(struct pool *p, struct pool_link *k)
{
    struct link *link = k->link;
    set_link(p, k, NULL);
    strategy_close(k->engine, by_mpi(k) && k->broken);
    k->engine = NULL;
    if (link)
        link->ops->close(link);
}

static bool open_again(struct pool *p, struct pool_link *k)
{
    struct link *link = NULL;
    bool good = open_link(p, k, &link);
    k->told = (struct link_stats){0};
    if (good && !(k->engine = strategy_open(link))) {
        snprintf(p->why, sizeof p->why, "out of memory");
        good = false;
    }
    set_link(p, k, link);
    k->broken = !all_have(p, good);
    if (k->broken)
        shut(p, k);
    return !k->broken;
}

void pool_fail(struct pool *p, struct pool_link *k)
{
    k->broken = true;
    shut(p, k);
}

bool pool_mend(struct pool *p, struct pool_link *k)
{
    if (mpi_all(p->comm, !k->broken))
        return true;
    pool_fail(p, k);
    return open_again(p, k);
}

/* ---- what it carries ---- */

/* Every rank has its row of `each` numbers in x, and gets all of them. */
static bool gather_rows(double *x, int each, MPI_Comm comm)
{
    return MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, x, each, MPI_DOUBLE, comm) ==
           MPI_SUCCESS;
}

static bool uplink_rates(struct link *link, MPI_Comm comm, double *rate_Bps)
{
    struct link_stats own;
    int rank;
    MPI_Comm_rank(comm, &rank);
    link->ops->stats(link, &own);
    rate_Bps[rank] = own.rate_Bps;
    return gather_rows(rate_Bps, 1, comm);
}

static bool pair_rates(struct link *link, MPI_Comm comm, double *pair_Bps)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    tcp_rates(link, pair_Bps + (size_t)rank * (size_t)ranks);
    return gather_rows(pair_Bps, ranks, comm);
}

bool pool_measure(struct pool *p, struct pool_link *k, enum pool_quantity what)
{
    static bool (*const probe[])(struct link *, MPI_Comm, double *) = {
        [POOL_RTT_S] = probe_rtt, [POOL_UP_BPS] = uplink_rates, [POOL_PAIR_BPS] = pair_rates};
    size_t n = (size_t)p->host->ranks;
    if (k->measured[what])
        return true;
    double *x = calloc(what == POOL_UP_BPS ? n : n * n, sizeof *x);
    bool good = all_have(p, x != NULL) && x;
    if (good && !probe[what](k->link, p->comm, x)) {
        snprintf(p->why, sizeof p->why, "%s", k->link->why);
        k->broken = true;
        good = false;
    }
    if (good)
        k->measured[what] = x;
    else
        free(x);
    return good;
}

/* ---- all of them ---- */

/* Each strategy has connections of its own: what one sends changes the windows and the estimated rates
 * that the next one would find. A ring of 1 MiB under BBR took 269 ms on those of a direct exchange,
 * and 193 ms on its own (4 sites, 100 Mbit/s, 30 ms). */
static bool same(const struct pool_link *x, const struct pool_link *y)
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

static void drop(struct pool_link *k)
{
    if (k->over != MPI_COMM_NULL)
        MPI_Comm_free(&k->over);
    for (int i = 0; i < POOL_QUANTITIES; i++)
        free(k->measured[i]);
    free(k);
}

struct pool_link *pool_take(struct pool *p, const struct cell *c, MPI_Comm inside)
{
    const bool is_inside = inside != MPI_COMM_NULL;
    const struct pool_link wanted = {.options = *c, .inside = is_inside, .over = MPI_COMM_NULL};
    struct pool_link *k = p->first;
    while (k && !same(k, &wanted))
        k = k->next;
    if (k)
        return pool_mend(p, k) ? k : NULL;
    k = calloc(1, sizeof *k);
    if (!k)
        snprintf(p->why, sizeof p->why, "out of memory");
    if (!all_have(p, k != NULL) || !k) {
        free(k);
        return NULL;
    }
    *k = wanted;
    bool good = MPI_Comm_dup(is_inside ? inside : p->comm, &k->over) == MPI_SUCCESS;
    if (!all_have(p, good) || !open_again(p, k)) {
        drop(k);
        return NULL;
    }
    pthread_mutex_lock(&p->lock);
    k->next = p->first;
    p->first = k;
    pthread_mutex_unlock(&p->lock);
    return k;
}

void pool_close(struct pool *p)
{
    while (p->first) {
        struct pool_link *k = p->first;
        p->first = k->next;
        shut(p, k);
        drop(k);
    }
    pthread_mutex_destroy(&p->lock);
}

void pool_abort(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    for (struct pool_link *k = p->first; k; k = k->next)
        if (k->link)
            k->link->ops->abort(k->link);
    pthread_mutex_unlock(&p->lock);
}

/* ==== a cut network ==== */

#define LOOK_S 0.1
#define LEAST_S 2.0 /* keepalive probes an idle connection once a second; two may be late */
#define ALMOST                                                                                     \
    0.9 /* of the time-out: hosts that are silent for so long are reported with the first */
#define FDS 4096
#define ESTABLISHED 1 /* tcpi_state; <netinet/tcp.h> names it, but knows less of tcp_info */
#define PROBES 127    /* the kernel's maximum; MPI's connections outlive the time-out */

struct pool_silence {
    const struct wl_host *host;
    struct tcp_contact *contact; /* by rank */
    int *same;                   /* by rank: the first rank of its host */
    double *quiet_s;             /* by first rank of a host: all its connections; INFINITY: none */
    double counted_s[FDS];       /* by connection, while this thread ran */
    bool *told;
    atomic_int timeout_ms;
    atomic_bool leaves;
    pthread_t thread;
};

/* The rank whose host has this address; -1: none, or our own. */
static int rank_at(const struct pool_silence *s, const struct sockaddr_storage *a)
{
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)a;
    const uint8_t *bytes = (const uint8_t *)&((const struct sockaddr_in *)a)->sin_addr;
    uint16_t family = a->ss_family;
    if (family == AF_INET6) {
        bool four = IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);
        bytes = six->sin6_addr.s6_addr + (four ? 12 : 0);
        family = four ? AF_INET : AF_INET6;
    }
    for (int r = 0; r < s->host->ranks; r++)
        for (int k = 0; k < s->contact[r].addresses && s->same[r] == r; k++)
            if (s->contact[r].address[k].family == family &&
                !memcmp(s->contact[r].address[k].bytes, bytes, family == AF_INET ? 4 : 16))
                return r == s->same[s->host->rank] ? -1 : r;
    return -1;
}

/* True: it was on already. */
static bool keep_alive(int fd, int every_s)
{
    const struct {
        int level, name, value;
    } all[] = {{SOL_SOCKET, SO_KEEPALIVE, 1},
               {IPPROTO_TCP, TCP_KEEPCNT, PROBES},
               {IPPROTO_TCP, TCP_KEEPINTVL, every_s},
               {IPPROTO_TCP, TCP_KEEPIDLE, 1}};
    bool was = true;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int now = 0;
        socklen_t n = sizeof now;
        getsockopt(fd, all[i].level, all[i].name, &now, &n);
        if (now != all[i].value) {
            setsockopt(fd, all[i].level, all[i].name, &all[i].value, sizeof all[i].value);
            was = false;
        }
    }
    return was;
}

/* A full window is no silence, but hides one: the kernel asks ever less often. What cannot even be
 * sent, as this host has lost its own network, waits behind an open one. */
static void look_at(struct pool_silence *s, int fd, double passed_s, double timeout_s)
{
    struct tcp_info t = {0};
    struct sockaddr_storage a = {0};
    socklen_t n = sizeof t, m = sizeof a;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &t, &n) || t.tcpi_state != ESTABLISHED ||
        getpeername(fd, (struct sockaddr *)&a, &m))
        return;
    int r = rank_at(s, &a);
    if (r < 0)
        return;
    bool known = keep_alive(fd, 1 + (int)(2 * timeout_s / PROBES));
    bool full = t.tcpi_unacked == 0 && t.tcpi_notsent_bytes > 0 && t.tcpi_snd_wnd < t.tcpi_snd_mss;
    double kernel_s = 1e-3 * fmin(t.tcpi_last_ack_recv, t.tcpi_last_data_recv);
    s->counted_s[fd] = known && !full ? fmin(s->counted_s[fd] + passed_s, kernel_s) : 0;
    s->quiet_s[r] = fmin(s->quiet_s[r], s->counted_s[fd]);
}

static void tell(struct pool_silence *s, double timeout_s)
{
    bool lost = false;
    for (int r = 0; r < s->host->ranks; r++)
        lost |= isfinite(s->quiet_s[r]) && s->quiet_s[r] >= timeout_s;
    double enough_s = fmax(timeout_s - 1, ALMOST * timeout_s);
    for (int r = 0; lost && r < s->host->ranks; r++) {
        if (s->told[r] || !isfinite(s->quiet_s[r]) || s->quiet_s[r] < enough_s)
            continue;
        s->host->lost(s->host->ctx, s->contact[r].host);
        s->told[r] = true;
    }
}

static void look(struct pool_silence *s, double passed_s)
{
    double timeout_s = fmax(1e-3 * atomic_load(&s->timeout_ms), LEAST_S);
    for (int r = 0; r < s->host->ranks; r++)
        s->quiet_s[r] = INFINITY;
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));) {
        int fd = atoi(e->d_name);
        if (fd > 2 && fd < FDS)
            look_at(s, fd, passed_s, timeout_s);
    }
    if (d)
        closedir(d);
    tell(s, timeout_s);
}

/* While this process or its machine stands still, nobody is silent. */
static void *watch(void *arg)
{
    struct pool_silence *s = arg;
    for (uint64_t before = now_ns(), now; !atomic_load(&s->leaves); before = now) {
        nanosleep(&(struct timespec){.tv_nsec = (long)(LOOK_S * 1e9)}, NULL);
        now = now_ns();
        if (atomic_load(&s->timeout_ms))
            look(s, fmin((double)(now - before) * 1e-9, 5 * LOOK_S));
    }
    return NULL;
}

/* MPI connects two ranks at their first message: between all of them there is something to watch. */
static bool connect_all(const struct pool_silence *s, MPI_Comm comm)
{
    bool good = true;
    char out = 0, in;
    for (int r = 0; r < s->host->ranks; r++) {
        int to = (s->host->rank + r) % s->host->ranks;
        int from = (s->host->rank + s->host->ranks - r) % s->host->ranks;
        good &= MPI_Sendrecv(&out, 1, MPI_CHAR, to, 0, &in, 1, MPI_CHAR, from, 0, comm,
                             MPI_STATUS_IGNORE) == MPI_SUCCESS;
    }
    return good;
}

static bool gather(struct pool_silence *s, MPI_Comm comm)
{
    char why[256];
    const struct wl_host *h = s->host;
    const bool good = s->contact && s->same && s->quiet_s && s->told;
    if (!mpi_all(comm, good) || !good)
        return false;
    tcp_contact_own(&s->contact[h->rank], "", false, why, sizeof why);
    if (MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, s->contact, sizeof *s->contact, MPI_BYTE,
                      comm) != MPI_SUCCESS)
        return false;
    for (int r = 0; r < h->ranks; r++)
        while (strcmp(s->contact[s->same[r]].host, s->contact[r].host) != 0)
            s->same[r]++;
    return connect_all(s, comm);
}

/* The main thread handles signals. */
static bool start(struct pool_silence *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool started = !pthread_create(&s->thread, NULL, watch, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void discard(struct pool_silence *s)
{
    free(s->contact);
    free(s->same);
    free(s->quiet_s);
    free(s->told);
    free(s);
}

struct pool_silence *pool_silence_open(const struct wl_host *host, MPI_Comm comm)
{
    size_t n = (size_t)host->ranks;
    struct pool_silence *s = host->nodes > 1 && host->lost ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    s->host = host;
    s->contact = calloc(n, sizeof *s->contact);
    s->same = calloc(n, sizeof *s->same);
    s->quiet_s = calloc(n, sizeof *s->quiet_s);
    s->told = calloc(n, sizeof *s->told);
    if (gather(s, comm) && start(s))
        return s;
    discard(s);
    return NULL;
}

void pool_silence_allow(struct pool_silence *s, double timeout_s)
{
    if (s)
        atomic_store(&s->timeout_ms, (int)fmin(timeout_s * 1e3, 1e9));
}

void pool_silence_close(struct pool_silence *s)
{
    if (!s)
        return;
    atomic_store(&s->leaves, true);
    pthread_join(s->thread, NULL);
    discard(s);
}
