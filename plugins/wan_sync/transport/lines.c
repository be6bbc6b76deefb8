/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/lines.h"

#include "common/clock.h"
#include "common/mpi_help.h"
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
    bool all = mpi_all(l->comm, good);
    if (good && !all)
        snprintf(l->why, sizeof l->why, "another rank has no link, or no memory");
    return all;
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
    if (line->engine && by_mpi(line) && line->broken)
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

bool lines_mend(struct lines *l, struct line *line)
{
    if (mpi_all(l->comm, !line->broken))
        return true;
    line->broken = true;
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
    return measure(l, line, &line->rtt_s, n * n, link_measure_rtt);
}

bool lines_measure_rate(struct lines *l, struct line *line)
{
    return measure(l, line, &line->rate_Bps, (size_t)l->host->ranks, link_measure_rate);
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
    pthread_mutex_lock(&l->lock);
    for (struct line *line = l->first; line; line = line->next)
        if (line->link)
            line->link->ops->abort(line->link);
    pthread_mutex_unlock(&l->lock);
}

/* ==== a cut network ==== */

#define LOOK_S 0.1
#define LEAST_S 2.0 /* keepalive probes an idle connection once a second; two may be late */
#define ALMOST                                                                                     \
    0.9 /* of the time-out: hosts that are silent for so long are reported with the first */
#define FDS 4096
#define ESTABLISHED 1 /* tcpi_state; <netinet/tcp.h> names it, but knows less of tcp_info */
#define PROBES 127    /* the kernel's maximum; MPI's connections outlive the time-out */

struct silence {
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
static int rank_at(const struct silence *s, const struct sockaddr_storage *a)
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
static void look_at(struct silence *s, int fd, double passed_s, double timeout_s)
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

static void tell(struct silence *s, double timeout_s)
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

static void look(struct silence *s, double passed_s)
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
    struct silence *s = arg;
    for (uint64_t before = now_ns(), now; !atomic_load(&s->leaves); before = now) {
        nanosleep(&(struct timespec){.tv_nsec = (long)(LOOK_S * 1e9)}, NULL);
        now = now_ns();
        if (atomic_load(&s->timeout_ms))
            look(s, fmin((double)(now - before) * 1e-9, 5 * LOOK_S));
    }
    return NULL;
}

/* MPI connects two ranks at their first message: between all of them there is something to watch. */
static bool connect_all(const struct silence *s, MPI_Comm comm)
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

static bool gather(struct silence *s, MPI_Comm comm)
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
static bool start(struct silence *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool started = !pthread_create(&s->thread, NULL, watch, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void discard(struct silence *s)
{
    free(s->contact);
    free(s->same);
    free(s->quiet_s);
    free(s->told);
    free(s);
}

struct silence *silence_open(const struct wl_host *host, MPI_Comm comm)
{
    size_t n = (size_t)host->ranks;
    struct silence *s = host->nodes > 1 && host->lost ? calloc(1, sizeof *s) : NULL;
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

void silence_allow(struct silence *s, double timeout_s)
{
    if (s)
        atomic_store(&s->timeout_ms, (int)fmin(timeout_s * 1e3, 1e9));
}

void silence_close(struct silence *s)
{
    if (!s)
        return;
    atomic_store(&s->leaves, true);
    pthread_join(s->thread, NULL);
    discard(s);
}
