/* SPDX-License-Identifier: Apache-2.0
 *
 * Connects the streams of a link: addresses, and connections until both ends have shown the cookie.
 */
#include "wan_sync/transport/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

int tcp_fail(struct tcp_link *l, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!l->failed)
        vsnprintf(l->base.why, sizeof l->base.why, fmt, args);
    va_end(args);
    l->failed = true;
    return -1;
}

/* ==== addresses, and the socket that listens ==== */

/* Link-local addresses of IPv6 mean nothing on another host. */
static void add_address(struct tcp_contact *c, const struct sockaddr *a)
{
    if (c->addresses == TCP_ADDRESSES_MAX || !a)
        return;
    const void *bytes = &((const struct sockaddr_in *)(const void *)a)->sin_addr;
    size_t n = 4;
    if (a->sa_family == AF_INET6) {
        const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
        if (IN6_IS_ADDR_LINKLOCAL(six))
            return;
        bytes = six, n = 16;
    } else if (a->sa_family != AF_INET) {
        return;
    }
    c->address[c->addresses].family = a->sa_family;
    memcpy(c->address[c->addresses].bytes, bytes, n);
    c->addresses++;
}

static int own_addresses(struct tcp_contact *out, const char *interface, bool loopback, char *why,
                         size_t size)
{
    *out = (struct tcp_contact){0};
    gethostname(out->host, sizeof out->host - 1);
    if (loopback) {
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        add_address(out, (const struct sockaddr *)&a);
        return 0;
    }
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all))
        return LINK_WHY(why, size, "the addresses of this host: %s", strerror(errno));
    static const int families[] = {AF_INET, AF_INET6}; /* the order in which they are tried */
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const struct ifaddrs *i = all; i; i = i->ifa_next)
            if ((i->ifa_flags & IFF_UP) && i->ifa_addr && i->ifa_addr->sa_family == families[f] &&
                (interface[0] ? !strcmp(i->ifa_name, interface) : !(i->ifa_flags & IFF_LOOPBACK)))
                add_address(out, i->ifa_addr);
    freeifaddrs(all);
    if (out->addresses > 0)
        return 0;
    return interface[0] ? LINK_WHY(why, size,
                                   "interface = %s: it has no address ('ip address' "
                                   "lists those that have one)",
                                   interface)
                        : LINK_WHY(why, size, "this host has only loopback addresses");
}

/* One socket for both families where the host has IPv6. */
static int open_socket(bool loopback, int port, struct sockaddr_storage *a, socklen_t *n)
{
    *a = (struct sockaddr_storage){0};
    int no = 0;
    int fd = loopback ? -1 : socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) == 0) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)a;
        six->sin6_family = AF_INET6, six->sin6_port = htons((uint16_t)port);
        *n = sizeof *six;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    struct sockaddr_in *four = (struct sockaddr_in *)a;
    four->sin_family = AF_INET, four->sin_port = htons((uint16_t)port);
    four->sin_addr.s_addr = htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY);
    *n = sizeof *four;
    return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static int open_listener(bool loopback, int port, uint16_t *bound, char *why, size_t size)
{
    struct sockaddr_storage a;
    socklen_t n;
    int yes = 1, fd = open_socket(loopback, port, &a, &n);
    const char *step = "socket";
    /* A port whose last owner has just ended is free; one that somebody listens on is not. */
    bool ok = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
              (step = "bind", bind(fd, (struct sockaddr *)&a, n) == 0) &&
              (step = "listen", listen(fd, SOMAXCONN) == 0) &&
              getsockname(fd, (struct sockaddr *)&a, &n) == 0;
    if (!ok) {
        if (errno == EADDRINUSE)
            snprintf(why, size,
                     "port %d is taken by another program or connection; choose another port, best "
                     "outside of net.ipv4.ip_local_port_range, or 0",
                     port);
        else
            snprintf(why, size, "listening on port %d: %s: %s", port, step, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *bound = ntohs(((struct sockaddr_in *)&a)->sin_port); /* of both families */
    return fd;
}

/* The k-th address, for connect(). */
static socklen_t address_of(const struct tcp_contact *c, unsigned k, struct sockaddr_storage *out)
{
    struct sockaddr_in *four = (struct sockaddr_in *)out;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
    bool is_six = c->address[k].family == AF_INET6;
    *out = (struct sockaddr_storage){.ss_family = c->address[k].family};
    four->sin_port = htons(c->port); /* sin6_port is at the same place */
    memcpy(is_six ? (void *)&six->sin6_addr : &four->sin_addr, c->address[k].bytes,
           is_six ? sizeof six->sin6_addr : sizeof four->sin_addr);
    return is_six ? sizeof *six : sizeof *four;
}

static void address_text(const struct tcp_contact *c, unsigned k, char *text, size_t size)
{
    char a[INET6_ADDRSTRLEN] = "?";
    inet_ntop(c->address[k].family, c->address[k].bytes, a, sizeof a);
    snprintf(text, size, "%s port %d", a, c->port);
}

/* False, and why: the kernel does not have it, or does not permit it. "": its default. */
static bool congestion_allowed(const char *name, char *why, size_t size)
{
    int fd = name[0] ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0)
        return true;
    bool ok = !setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name));
    if (!ok)
        snprintf(why, size,
                 "congestion = %s: %s; choose one of "
                 "/proc/sys/net/ipv4/tcp_allowed_congestion_control",
                 name, strerror(errno));
    close(fd);
    return ok;
}

int tcp_join_listen(struct tcp_link *l, struct tcp_contact *own, char *why, size_t size)
{
    const struct tcp_options *o = &l->options;
    bool loopback = l->host.nodes == 1;
    int port = o->port ? o->port + l->host.local_rank : 0;
    if (!congestion_allowed(o->congestion, why, size) ||
        own_addresses(own, o->interface, loopback, why, size))
        return -1;
    l->listener = open_listener(loopback, port, &own->port, why, size);
    return l->listener < 0 ? -1 : 0;
}

/* ==== a connection until both ends have shown the cookie ==== */

/* Rank 0 draws the cookie and gives it to the others over MPI. The caller sends its half first; the called
 * end compares it, in constant time, before it reads anything else, and answers with the other half. The
 * higher rank calls the lower one.
 *
 * A stranger finds little here. Its connection is a guest in a table of fixed size, which is allocated
 * before the first call: nothing is allocated or freed for it. It gets no answer, and is refused two
 * seconds after it came. A full table drops the oldest guest. */

#define GUESTS_EXTRA 64 /* beside all streams of the other ranks */
#define JOIN_S 5.0      /* for the whole of it */
#define GUEST_S 2.0     /* for a guest to show the cookie */
#define REDIAL_S 0.05
#define TURN_MS 20

/* A connection that came to the listener. */
struct guest {
    int fd; /* -1: the place is free */
    double came;
    size_t have; /* bytes of call */
    struct tcp_call call;
};

/* A connection that this rank makes for one of its streams. */
struct dial {
    int fd; /* -1: none */
    bool connected;
    double deadline, again; /* again: not before this time */
    size_t have;            /* bytes of answer */
    struct tcp_answer answer;
};

struct join {
    struct tcp_link *l;
    double now;
    struct guest *guests;
    size_t guests_n;
    struct dial *dials;   /* by stream of the link */
    unsigned *address;    /* by rank: index of its address to connect to */
    unsigned *refusals;   /* by rank */
    struct pollfd *polls; /* the listener, the guests, the dials */
};

/* ---- both ends ---- */

int tcp_cookie_draw(struct tcp_cookie *c)
{
    return getrandom(c, sizeof *c, 0) == (ssize_t)sizeof *c ? 0 : -1;
}

/* In the same time wherever they differ. */
static bool same_half(const uint8_t *a, const uint8_t *b)
{
    volatile uint8_t differs = 0;
    for (size_t i = 0; i < TCP_COOKIE_HALF_B; i++)
        differs = (uint8_t)(differs | (a[i] ^ b[i]));
    return differs == 0;
}

/* A few bytes on a new connection: the kernel takes them whole, or it is broken. */
static bool send_whole(int fd, const void *message, size_t bytes)
{
    return send(fd, message, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)bytes;
}

/* Adds what came to a message of `bytes` bytes. -1: the connection broke; 0: not whole yet. */
static int read_message(int fd, void *message, size_t *have, size_t bytes)
{
    ssize_t n = recv(fd, (uint8_t *)message + *have, bytes - *have, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return 0;
    if (n <= 0)
        return -1;
    *have += (size_t)n;
    return *have == bytes;
}

static void other_version(struct tcp_link *l, const struct tcp_peer *p, unsigned version)
{
    tcp_fail(l,
             "rank %d (%s) speaks version %u of the tcp transport, this rank version %d: run the "
             "same gradsync on every host",
             p->rank, p->contact.host, version, TCP_VERSION);
}

#define KEEPALIVES 127 /* unanswered ones before the kernel gives up: its maximum */

/* Keepalive makes the other host's kernel answer once a second, also on an idle connection. */
static void stream_up(struct tcp_link *l, struct tcp_stream *s, int fd)
{
    const struct {
        int level, name, value;
    } all[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
               {IPPROTO_TCP, TCP_NOTSENT_LOWAT, TCP_UNSENT_LOW_B},
               {IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVES},
               {IPPROTO_TCP, TCP_KEEPIDLE, 1},
               {IPPROTO_TCP, TCP_KEEPINTVL, 1 + (int)(2 * l->options.deadline_s / KEEPALIVES)},
               {SOL_SOCKET, SO_KEEPALIVE, 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        setsockopt(fd, all[i].level, all[i].name, &all[i].value, sizeof all[i].value);
    if (s->fd >= 0) /* the caller has given up the connection before */
        close(s->fd);
    s->peer->up += s->fd < 0;
    s->fd = fd;
}

static void set_congestion(int fd, const char *name)
{
    if (name[0])
        setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name));
}

/* ---- the called end ---- */

static void refuse_guest(struct join *j, struct guest *g)
{
    j->l->strangers++;
    close(g->fd);
    g->fd = -1;
}

/* The caller has shown the cookie. */
static void take_call(struct join *j, struct guest *g)
{
    struct tcp_link *l = j->l;
    const struct tcp_call *c = &g->call;
    if (c->to != l->host.rank || c->from >= l->host.ranks || c->from <= l->host.rank ||
        c->stream >= l->options.streams) {
        refuse_guest(j, g);
        return;
    }
    struct tcp_peer *p = &l->peers[c->from];
    struct tcp_answer answer = {.version = TCP_VERSION};
    memcpy(answer.cookie, l->cookie.answer, sizeof answer.cookie);
    bool said = send_whole(g->fd, &answer, sizeof answer);
    if (c->version != TCP_VERSION)
        other_version(l, p, c->version);
    if (said && c->version == TCP_VERSION)
        stream_up(l, &p->streams[c->stream], g->fd);
    else
        close(g->fd);
    g->fd = -1;
}

static void hear_guest(struct join *j, struct guest *g)
{
    if (g->have < TCP_COOKIE_HALF_B) {
        int whole = read_message(g->fd, g->call.cookie, &g->have, TCP_COOKIE_HALF_B);
        if (whole < 0 || (whole > 0 && !same_half(j->l->cookie.call, g->call.cookie)))
            refuse_guest(j, g);
        if (whole <= 0 || g->fd < 0)
            return;
    }
    int whole = read_message(g->fd, &g->call, &g->have, sizeof g->call);
    if (whole < 0)
        refuse_guest(j, g);
    else if (whole > 0)
        take_call(j, g);
}

/* A free place, or that of the oldest guest. A rank's cookie comes in its first packet, so the oldest is
 * heard once more. */
static struct guest *make_place(struct join *j)
{
    struct guest *g = j->guests;
    for (struct guest *o = g; o < j->guests + j->guests_n; o++) {
        if (o->fd < 0)
            return o;
        if (o->came < g->came)
            g = o;
    }
    hear_guest(j, g);
    if (g->fd >= 0)
        refuse_guest(j, g);
    return g;
}

static void accept_guests(struct join *j)
{
    for (int i = 0; i < GUESTS_EXTRA && !j->l->failed; i++) {
        int fd = accept4(j->l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        *make_place(j) = (struct guest){.fd = fd, .came = j->now};
    }
}

/* ---- the caller ---- */

static void dial_failed(struct join *j, size_t stream, const char *why)
{
    struct tcp_peer *p = j->l->streams[stream].peer;
    struct dial *d = &j->dials[stream];
    char at[64];
    address_text(&p->contact, j->address[p->rank], at, sizeof at);
    snprintf(p->last, sizeof p->last, "%s: %s", at, why);
    unsigned refusals = ++j->refusals[p->rank];
    if (p->up == 0)
        j->address[p->rank] = (j->address[p->rank] + 1) % p->contact.addresses;
    d->again = j->now + REDIAL_S * (refusals < 20 ? refusals : 20);
    if (d->fd >= 0)
        close(d->fd);
    d->fd = -1;
}

static void dial_stream(struct join *j, size_t stream)
{
    struct tcp_link *l = j->l;
    const struct tcp_peer *p = l->streams[stream].peer;
    struct sockaddr_storage a;
    socklen_t n = address_of(&p->contact, j->address[p->rank], &a);
    int fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        tcp_fail(l, "a socket for rank %d: %s", p->rank, strerror(errno));
        return;
    }
    j->dials[stream] = (struct dial){.fd = fd, .deadline = j->now + JOIN_S};
    set_congestion(fd, l->options.congestion);
    if (connect(fd, (struct sockaddr *)&a, n) && errno != EINPROGRESS)
        dial_failed(j, stream, strerror(errno));
}

static void hear_dial(struct join *j, size_t stream)
{
    struct tcp_link *l = j->l;
    struct tcp_stream *s = &l->streams[stream];
    struct dial *d = &j->dials[stream];
    if (!d->connected) {
        int error = 0, index = (int)(s - s->peer->streams);
        socklen_t n = sizeof error;
        struct tcp_call call = {.version = TCP_VERSION,
                                .from = (uint16_t)l->host.rank,
                                .to = (uint16_t)s->peer->rank,
                                .stream = (uint16_t)index};
        memcpy(call.cookie, l->cookie.call, sizeof call.cookie);
        getsockopt(d->fd, SOL_SOCKET, SO_ERROR, &error, &n);
        d->connected = !error && send_whole(d->fd, &call, sizeof call);
        if (!d->connected)
            dial_failed(j, stream, strerror(error ? error : errno));
        return;
    }
    int whole = read_message(d->fd, &d->answer, &d->have, sizeof d->answer);
    if (whole < 0) {
        dial_failed(j, stream, "refused the connection");
    } else if (whole > 0 && !same_half(d->answer.cookie, l->cookie.answer)) {
        dial_failed(j, stream, "it is no rank of this job");
    } else if (whole > 0 && d->answer.version != TCP_VERSION) {
        other_version(l, s->peer, d->answer.version);
    } else if (whole > 0) {
        stream_up(l, s, d->fd);
        d->fd = -1;
    }
}

/* Calls the lower ranks. One stream finds the address; the others follow it. */
static void dial_due(struct join *j)
{
    const struct tcp_link *l = j->l;
    for (size_t i = 0; i < l->streams_n && !l->failed; i++) {
        const struct tcp_stream *s = &l->streams[i];
        const struct tcp_peer *p = s->peer;
        struct dial *d = &j->dials[i];
        if (d->fd >= 0 && j->now > d->deadline)
            dial_failed(j, i, "no answer");
        if (p->rank < l->host.rank && s->fd < 0 && d->fd < 0 && j->now >= d->again &&
            (s == p->streams || p->up > 0))
            dial_stream(j, i);
    }
}

/* ---- all of them ---- */

static void join_turn(struct join *j)
{
    struct tcp_link *l = j->l;
    struct pollfd *guests = j->polls + 1, *dials = guests + j->guests_n;
    dial_due(j);
    j->polls[0] = (struct pollfd){.fd = l->listener, .events = POLLIN};
    for (size_t i = 0; i < j->guests_n; i++)
        guests[i] = (struct pollfd){.fd = j->guests[i].fd, .events = POLLIN};
    for (size_t i = 0; i < l->streams_n; i++)
        dials[i] = (struct pollfd){.fd = j->dials[i].fd,
                                   .events = j->dials[i].connected ? POLLIN : POLLOUT};
    poll(j->polls, 1 + j->guests_n + l->streams_n, TURN_MS);
    j->now = now_s();
    for (size_t i = 0; i < j->guests_n; i++) {
        struct guest *g = &j->guests[i];
        if (g->fd >= 0 && guests[i].revents)
            hear_guest(j, g);
        if (g->fd >= 0 && j->now - g->came > GUEST_S)
            refuse_guest(j, g);
    }
    for (size_t i = 0; i < l->streams_n; i++)
        if (j->dials[i].fd >= 0 && dials[i].revents)
            hear_dial(j, i);
    if (j->polls[0].revents)
        accept_guests(j);
    if (atomic_load(&l->aborted))
        tcp_fail(l, "stopped from outside");
}

static int not_in_time(const struct join *j, const struct tcp_peer *p)
{
    const struct tcp_contact *own = &j->l->peers[j->l->host.rank].contact;
    char strangers[96] = "", called[160] = "", at[64];
    if (j->l->strangers)
        snprintf(strangers, sizeof strangers,
                 "; refused %u connections that did not come from ranks of this job",
                 j->l->strangers);
    if (p->rank > j->l->host.rank) {
        address_text(own, 0, at, sizeof at);
        snprintf(called, sizeof called, ": it should connect to %s%s", at,
                 own->addresses > 1 ? " or another address of this host" : "");
    }
    return tcp_fail(j->l, "%d of %d streams with rank %d (%s) after %g s%s%s%s%s", p->up,
                    j->l->options.streams, p->rank, p->contact.host, j->l->options.deadline_s,
                    called, p->last[0] ? ": " : "", p->last, strangers);
}

int tcp_join(struct tcp_link *l)
{
    size_t ranks = (size_t)l->host.ranks;
    struct join j = {.l = l, .now = now_s(), .guests_n = GUESTS_EXTRA + l->streams_n};
    const struct tcp_peer *p;
    j.guests = calloc(j.guests_n, sizeof *j.guests);
    j.dials = calloc(l->streams_n, sizeof *j.dials);
    j.address = calloc(ranks, sizeof *j.address);
    j.refusals = calloc(ranks, sizeof *j.refusals);
    j.polls = calloc(1 + j.guests_n + l->streams_n, sizeof *j.polls);
    if (!j.guests || !j.dials || !j.address || !j.refusals || !j.polls)
        tcp_fail(l, "no memory for %zu connections", l->streams_n);
    set_congestion(l->listener, l->options.congestion);
    for (size_t i = 0; j.guests && i < j.guests_n; i++)
        j.guests[i].fd = -1;
    for (size_t i = 0; j.dials && i < l->streams_n; i++)
        j.dials[i].fd = -1;
    double end = j.now + l->options.deadline_s;
    for (int r = 0; r < l->host.ranks && !l->failed;) {
        p = &l->peers[r];
        if (r == l->host.rank || p->up == l->options.streams) {
            r++;
            continue;
        }
        join_turn(&j);
        if (j.now > end)
            not_in_time(&j, p);
    }
    for (size_t i = 0; j.guests && i < j.guests_n; i++)
        if (j.guests[i].fd >= 0)
            close(j.guests[i].fd);
    for (size_t i = 0; j.dials && i < l->streams_n; i++)
        if (j.dials[i].fd >= 0)
            close(j.dials[i].fd);
    void *all[] = {j.guests, j.dials, j.address, j.refusals, j.polls};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    close(l->listener);
    l->listener = -1;
    return l->failed ? -1 : 0;
}
