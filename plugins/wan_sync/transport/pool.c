/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/pool.h"

#include "common/clock.h"
#include "common/mpi_calls.h"
#include "wan_sync/transport/link_mpi.h"
#include "wan_sync/transport/tcp.h"

#include <dirent.h>
#include <linux/tcp.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

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
    return by_mpi(k) ? !link_mpi_open(link, k->over, p->why, sizeof p->why)
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
    if (k->engine && by_mpi(k) && k->broken)
        strategy_leave_slots(k->engine);
    strategy_close(k->engine);
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

bool pool_mend(struct pool *p, struct pool_link *k)
{
    if (mpi_all(p->comm, !k->broken))
        return true;
    k->broken = true;
    shut(p, k);
    return open_again(p, k);
}

/* ---- what it carries ---- */

static bool measure(struct pool *p, struct pool_link *k, double **into, size_t n,
                    bool (*probe)(struct link *, MPI_Comm, double *))
{
    if (*into)
        return true;
    double *x = calloc(n, sizeof *x);
    bool good = all_have(p, x != NULL);
    if (good && !probe(k->link, p->comm, x)) {
        snprintf(p->why, sizeof p->why, "%s", k->link->why);
        k->broken = true;
        good = false;
    }
    if (good)
        *into = x;
    else
        free(x);
    return good;
}

static bool uplink_rates(struct link *link, MPI_Comm comm, double *rate_Bps)
{
    struct link_stats own;
    int rank;
    MPI_Comm_rank(comm, &rank);
    link->ops->stats(link, &own);
    rate_Bps[rank] = own.rate_Bps;
    return MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, rate_Bps, 1, MPI_DOUBLE, comm) ==
           MPI_SUCCESS;
}

static bool pair_rates(struct link *link, MPI_Comm comm, double *pair_Bps)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    tcp_rates(link, pair_Bps + (size_t)rank * (size_t)ranks);
    return MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, pair_Bps, ranks, MPI_DOUBLE, comm) ==
           MPI_SUCCESS;
}

bool pool_measure_rtt(struct pool *p, struct pool_link *k)
{
    size_t n = (size_t)p->host->ranks;
    return measure(p, k, &k->rtt_s, n * n, link_measure_rtt);
}

bool pool_gather_rates(struct pool *p, struct pool_link *k)
{
    return measure(p, k, &k->rate_Bps, (size_t)p->host->ranks, uplink_rates);
}

bool pool_gather_pairs(struct pool *p, struct pool_link *k)
{
    size_t n = (size_t)p->host->ranks;
    return measure(p, k, &k->pair_Bps, n * n, pair_rates);
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
    free(k->rtt_s);
    free(k->rate_Bps);
    free(k->pair_Bps);
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
