/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

/* ==== addresses, and the socket that listens ==== */

static bool same_interface(const struct ifaddrs *i, const char *interface)
{
    return interface[0] ? strcmp(i->ifa_name, interface) == 0 : !(i->ifa_flags & IFF_LOOPBACK);
}

/* Link-local addresses of IPv6 mean nothing on another host. */
static void tcp_contact_add(struct tcp_contact *c, const struct sockaddr *a)
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

void tcp_contact_here(struct tcp_contact *c)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    c->addresses = 0;
    c->closed = false;
    c->port = c->listens;
    tcp_contact_add(c, (const struct sockaddr *)&a);
}

static void names_of(const struct ifaddrs *all, char *text, size_t size)
{
    text[0] = 0;
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        size_t n = strlen(text);
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && n + 2 < size)
            snprintf(text + n, size - n, "%s%s", n ? ", " : "", i->ifa_name);
    }
}

int tcp_contact_own(struct tcp_contact *out, const char *interface, bool loopback, char *why,
                    size_t size)
{
    *out = (struct tcp_contact){0};
    gethostname(out->host, sizeof out->host - 1);
    if (loopback) {
        tcp_contact_here(out);
        return 0;
    }
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all))
        return LINK_WHY(why, size, "the addresses of this host: %s", strerror(errno));
    static const int families[] = {AF_INET, AF_INET6}; /* the order in which they are tried */
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const struct ifaddrs *i = all; i; i = i->ifa_next)
            if ((i->ifa_flags & IFF_UP) && i->ifa_addr && i->ifa_addr->sa_family == families[f] &&
                same_interface(i, interface))
                tcp_contact_add(out, i->ifa_addr);
    char names[128];
    names_of(all, names, sizeof names);
    freeifaddrs(all);
    if (out->addresses > 0)
        return 0;
    if (interface[0])
        snprintf(why, size, "interface = %s: it has no address; interfaces with an address: %s",
                 interface, names);
    else
        snprintf(why, size, "this host has only loopback addresses; interfaces: %s", names);
    return -1;
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

int tcp_listen(bool loopback, int port, uint16_t *bound, char *why, size_t size)
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

socklen_t tcp_contact_address(const struct tcp_contact *c, unsigned k, struct sockaddr_storage *out)
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

void tcp_contact_text(const struct tcp_contact *c, unsigned k, char *text, size_t size)
{
    char a[INET6_ADDRSTRLEN] = "?";
    inet_ntop(c->address[k].family, c->address[k].bytes, a, sizeof a);
    snprintf(text, size, "%s port %d", a, c->port);
}

/* ==== addresses from a file ==== */

/* Addresses of hosts that do not have them themselves, as behind a NAT that forwards a port. */

#define LINE_MAX_B 512

struct given {
    char host[256], where[256];
};

/* Splits "[ADDRESS]:PORT", "ADDRESS:PORT" or "ADDRESS" in place; an IPv6 address without brackets
 * has no port. Returns the port's text or NULL. */
static char *split_port(char **address)
{
    char *end = strchr(*address, ']'), *colon = strchr(*address, ':');
    if (**address == '[' && end) {
        ++*address;
        *end = 0;
        return end[1] == ':' ? end + 2 : NULL;
    }
    if (!colon || strchr(colon + 1, ':'))
        return NULL;
    *colon = 0;
    return colon + 1;
}

/* Adds every address that the name has here. */
static int resolve(struct tcp_contact *c, const char *name, char *why, size_t size)
{
    struct addrinfo want = {.ai_socktype = SOCK_STREAM}, *all = NULL;
    int rc = getaddrinfo(name, NULL, &want, &all);
    for (const struct addrinfo *a = all; a; a = a->ai_next)
        tcp_contact_add(c, a->ai_addr);
    if (all)
        freeaddrinfo(all);
    if (!rc && c->addresses)
        return 0;
    snprintf(why, size, "addresses: '%.64s' is not an address: %s", name,
             rc ? gai_strerror(rc) : "none that others can reach");
    return -1;
}

static int take(struct tcp_contact *c, char *where, int local_rank, char *why, size_t size)
{
    if (!strcmp(where, "own"))
        return 0;
    c->addresses = 0;
    c->closed = !strcmp(where, "none");
    if (c->closed)
        return 0;
    char *digits = split_port(&where), *end = NULL;
    long port = digits ? strtol(digits, &end, 10) : 0;
    if (digits && (*end || end == digits || port < 1 || port > 65535 - local_rank))
        return LINK_WHY(why, size, "addresses: port '%.32s' of %.64s: must be 1 to 65535", digits,
                        c->host);
    c->port = port ? (uint16_t)(port + local_rank) : 0;
    return resolve(c, where, why, size);
}

/* 1: found, 0: not there, -1: a line without two words. */
static int find(FILE *f, const char *host, struct given *g, int *line)
{
    char text[LINE_MAX_B];
    for (*line = 1; fgets(text, sizeof text, f); ++*line) {
        text[strcspn(text, "#\n")] = 0;
        int words = sscanf(text, "%255s %255s", g->host, g->where);
        if (words == 1)
            return -1;
        if (words == 2 && !strcasecmp(g->host, host))
            return 1;
    }
    return 0;
}

int tcp_contact_given(struct tcp_contact *c, const char *path, int local_rank, char *why,
                      size_t size)
{
    struct given g;
    int line;
    FILE *f = fopen(path, "re");
    if (!f)
        return LINK_WHY(why, size, "addresses = %s: %s", path, strerror(errno));
    int found = find(f, c->host, &g, &line);
    fclose(f);
    if (found > 0)
        return take(c, g.where, local_rank, why, size);
    if (found < 0)
        snprintf(why, size, "%s:%d: write HOST and ADDRESS[:PORT], own or none", path, line);
    else
        snprintf(why, size,
                 "addresses = %s: no line for host %s; add: %s ADDRESS[:PORT], or own or none",
                 path, c->host, c->host);
    return -1;
}

/* ==== a connection until both ends have shown the cookie ==== */

/* A connection until both ends have shown the cookie of the link, at the start and whenever a stream
 * broke. Rank 0 draws the cookie and gives it to the others over MPI. The caller sends its half first;
 * the called end compares it, in constant time, before it reads anything else, and answers with the
 * other half. The higher rank calls the lower one, unless nobody can connect to the lower one: then the
 * lower one calls.
 *
 * A stranger finds little here. Its connection is a guest in a table of fixed size, which is allocated
 * when the link is opened: nothing is allocated or freed for it. It gets no answer, one second after
 * its first byte, and five seconds without one. A full table drops the oldest guest. A guest may get
 * the place of another while epoll still has events for that one: such an event makes this rank look for
 * bytes that are not there, and does no more.
 */

#define GUESTS_EXTRA 64 /* beside all streams of the other ranks */
#define ACCEPTS 64      /* in one turn of the loop */
#define JOIN_S 5.0      /* for the whole of it */
#define SPOKEN_S 1.0    /* from a guest's first byte to its last */
#define REDIAL_S 0.05

/* ---- the cookie ---- */

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

void tcp_call_make(const struct tcp_cookie *c, unsigned version, int from, int to, int stream,
                   struct tcp_call *out)
{
    *out = (struct tcp_call){.version = (uint16_t)version,
                             .from = (uint16_t)from,
                             .to = (uint16_t)to,
                             .stream = (uint16_t)stream};
    memcpy(out->cookie, c->call, sizeof out->cookie);
}

/* ---- the listener ---- */

static struct tcp_link
    *doors; /* the links with a given port; one thread opens, drives and closes */

static struct tcp_link *at_port(int port)
{
    struct tcp_link *l = port ? doors : NULL;
    while (l && l->port != port)
        l = l->next_door;
    return l;
}

int tcp_join_open(struct tcp_link *l, bool loopback, int port, uint16_t *bound, char *why,
                  size_t size)
{
    const struct tcp_link *other = at_port(port);
    if (!tcp_congestion_allowed(l->options.congestion, why, size))
        return -1;
    l->guests_n = GUESTS_EXTRA + (size_t)l->host.ranks * (size_t)l->options.streams;
    l->guests = calloc(l->guests_n, sizeof *l->guests);
    if (!l->guests)
        return LINK_WHY(why, size, "no memory for %zu connections", l->guests_n);
    for (size_t i = 0; i < l->guests_n; i++)
        l->guests[i] = (struct tcp_guest){.watched = TCP_GUEST, .fd = -1};
    l->listener = other ? fcntl(other->listener, F_DUPFD_CLOEXEC, 0)
                        : tcp_listen(loopback, port, bound, why, size);
    if (l->listener < 0) {
        if (other)
            snprintf(why, size, "a second socket on port %d: %s", port, strerror(errno));
        return -1;
    }
    if (other)
        *bound = (uint16_t)port;
    if (port) {
        l->port = port;
        l->next_door = doors;
        doors = l;
    }
    return 0;
}

static void dial_end(struct tcp_dial *d)
{
    if (d->fd >= 0)
        close(d->fd);
    d->fd = -1;
}

void tcp_join_close(struct tcp_link *l)
{
    struct tcp_link **at = &doors;
    while (*at && *at != l)
        at = &(*at)->next_door;
    if (*at)
        *at = l->next_door;
    for (size_t i = 0; l->guests && i < l->guests_n; i++)
        if (l->guests[i].fd >= 0)
            close(l->guests[i].fd);
    for (struct tcp_stream *s = l->streams; s < l->streams_end; s++)
        dial_end(&s->dial);
    free(l->guests);
    if (l->listener >= 0)
        close(l->listener);
}

/* ---- what both ends do ---- */

bool tcp_join_calls(const struct tcp_link *l, int peer)
{
    const struct tcp_contact *me = &l->peers[l->host.rank].contact, *c = &l->peers[peer].contact;
    bool alike = me->node == c->node || me->closed == c->closed;
    return alike ? l->host.rank > peer : me->closed;
}

static void set_congestion(int fd, const char *name)
{
    if (name[0])
        setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name));
}

static void stream_up(struct tcp_link *l, struct tcp_stream *s, int fd)
{
    int yes = 1, low_B = TCP_UNSENT_LOW_B;
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &low_B, sizeof low_B);
    tcp_stream_up(s, fd);
}

/* A few bytes on a new connection: the kernel takes them whole, or it is broken. */
static bool say_it(int fd, const void *message, size_t bytes)
{
    return send(fd, message, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)bytes;
}

/* Adds what came to a message of `bytes` bytes. -1: the connection broke; 0: not whole yet. */
static int hear(int fd, void *message, size_t *have, size_t bytes)
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

/* ---- the called end ---- */

static void refuse(struct tcp_link *l, struct tcp_guest *g)
{
    l->stats.strangers++;
    close(g->fd);
    g->fd = -1;
}

static bool is_late(const struct tcp_guest *g, double now)
{
    return now - g->came > JOIN_S || (g->spoke > 0 && now - g->spoke > SPOKEN_S);
}

/* A free place, or that of the oldest guest, one that is late before all others. A rank's cookie
 * comes in its first packet, so the oldest is heard once more. */
static struct tcp_guest *make_place(struct tcp_link *l)
{
    struct tcp_guest *g = l->guests;
    for (struct tcp_guest *o = g; o < l->guests + l->guests_n; o++) {
        if (o->fd < 0)
            return o;
        bool late = is_late(o, l->now), later = is_late(g, l->now);
        if (late != later ? late : o->came < g->came)
            g = o;
    }
    tcp_join_guest(l, g);
    if (g->fd >= 0)
        refuse(l, g);
    return g;
}

/* Watches a connection as a guest; -1: not possible. */
static int sit(struct tcp_link *l, int fd, double came, const struct tcp_guest *known)
{
    struct tcp_guest *g = make_place(l);
    if (known)
        *g = *known;
    else
        *g = (struct tcp_guest){.watched = TCP_GUEST, .came = came};
    g->fd = fd;
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = g};
    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e)) {
        refuse(l, g);
        return -1;
    }
    return 0;
}

void tcp_join_accept(struct tcp_link *l)
{
    for (int i = 0; i < ACCEPTS && !l->failed; i++) {
        int fd = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        sit(l, fd, l->now, NULL);
    }
}

/* The link on this port with that cookie; NULL: none. */
static struct tcp_link *link_of(struct tcp_link *l, const uint8_t *half)
{
    struct tcp_link *found = same_half(l->cookie.call, half) ? l : NULL;
    for (struct tcp_link *d = at_port(l->port); d; d = d->next_door)
        if (d->port == l->port && d->ready && same_half(d->cookie.call, half))
            found = d;
    return found && found->ready ? found : NULL;
}

static void take_call(struct tcp_link *l, struct tcp_guest *g)
{
    const struct tcp_call *c = &g->call;
    if (c->to != l->host.rank || c->from == c->to || c->from >= l->host.ranks ||
        tcp_join_calls(l, c->from) || c->stream >= l->options.streams) {
        refuse(l, g);
        return;
    }
    struct tcp_answer answer = {.version = TCP_VERSION};
    memcpy(answer.cookie, l->cookie.answer, sizeof answer.cookie);
    bool said = say_it(g->fd, &answer, sizeof answer);
    if (c->version != TCP_VERSION) {
        other_version(l, &l->peers[c->from], c->version);
    } else if (said) {
        int fd = g->fd;
        g->fd = -1;
        set_congestion(fd, l->options.congestion); /* a shared listener has the kernel's default */
        stream_up(l, &l->peers[c->from].streams[c->stream], fd);
        return;
    }
    close(g->fd);
    g->fd = -1;
}

void tcp_join_guest(struct tcp_link *l, struct tcp_guest *g)
{
    if (g->fd < 0)
        return;
    if (g->have < TCP_COOKIE_HALF_B) {
        size_t before = g->have;
        int whole = hear(g->fd, g->call.cookie, &g->have, TCP_COOKIE_HALF_B);
        if (!before && g->have)
            g->spoke = l->now;
        struct tcp_link *to = whole > 0 ? link_of(l, g->call.cookie) : NULL;
        if (whole < 0 || (whole > 0 && !to))
            refuse(l, g);
        if (!to)
            return;
        if (to != l) {
            struct tcp_guest moved = *g;
            g->fd = -1;
            epoll_ctl(l->epoll, EPOLL_CTL_DEL, moved.fd, NULL);
            sit(to, moved.fd, moved.came, &moved);
            return;
        }
    }
    int whole = hear(g->fd, &g->call, &g->have, sizeof g->call);
    if (whole < 0)
        refuse(l, g);
    else if (whole > 0)
        take_call(l, g);
}

/* ---- the caller ---- */

static void dial_failed(struct tcp_stream *s, const char *why)
{
    struct tcp_peer *p = s->peer;
    char at[64];
    tcp_contact_text(&p->contact, p->address, at, sizeof at);
    snprintf(p->last, sizeof p->last, "%s: %s", at, why);
    p->refusals++;
    if (p->up == 0)
        p->address = (p->address + 1) % p->contact.addresses;
    s->dial.again = p->link->now + REDIAL_S * (p->refusals < 20 ? p->refusals : 20);
    dial_end(&s->dial);
}

static void connected(struct tcp_link *l, struct tcp_stream *s)
{
    int error = 0;
    socklen_t n = sizeof error;
    struct tcp_call call;
    getsockopt(s->dial.fd, SOL_SOCKET, SO_ERROR, &error, &n);
    tcp_call_make(&l->cookie, TCP_VERSION, l->host.rank, s->peer->rank, s->index, &call);
    if (error || !say_it(s->dial.fd, &call, sizeof call)) {
        dial_failed(s, strerror(error ? error : errno));
        return;
    }
    s->dial.connected = true;
    tcp_watch(l, EPOLL_CTL_MOD, s->dial.fd, EPOLLIN, &s->dial);
}

void tcp_join_dial(struct tcp_link *l, struct tcp_dial *d)
{
    struct tcp_stream *s =
        (struct tcp_stream *)(void *)((char *)d - offsetof(struct tcp_stream, dial));
    if (d->fd < 0)
        return;
    if (!d->connected) {
        connected(l, s);
        return;
    }
    int whole = hear(d->fd, &d->answer, &d->have, sizeof d->answer);
    if (whole == 0)
        return;
    if (whole < 0) {
        dial_failed(s, "refused the connection");
    } else if (!same_half(d->answer.cookie, l->cookie.answer)) {
        dial_failed(s, "it is no rank of this job");
    } else if (d->answer.version != TCP_VERSION) {
        other_version(l, s->peer, d->answer.version);
    } else {
        int fd = d->fd;
        d->fd = -1;
        stream_up(l, s, fd);
    }
}

static void dial(struct tcp_stream *s)
{
    struct tcp_peer *p = s->peer;
    struct tcp_link *l = p->link;
    struct sockaddr_storage a;
    socklen_t n = tcp_contact_address(&p->contact, p->address, &a);
    int fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        tcp_fail(l, "a socket for rank %d: %s", p->rank, strerror(errno));
        return;
    }
    s->dial = (struct tcp_dial){.watched = TCP_DIAL, .fd = fd, .deadline = now_s() + JOIN_S};
    if (tcp_watch(l, EPOLL_CTL_ADD, fd, EPOLLOUT, &s->dial))
        return;
    set_congestion(fd, l->options.congestion);
    if (connect(fd, (struct sockaddr *)&a, n) && errno != EINPROGRESS)
        dial_failed(s, strerror(errno));
}

/* One stream finds the address; the others follow it. */
static void dial_due(struct tcp_peer *p)
{
    struct tcp_link *l = p->link;
    for (struct tcp_stream *s = p->streams; s < p->streams_end && !l->failed; s++) {
        if (s->dial.fd >= 0 && l->now > s->dial.deadline)
            dial_failed(s, "no answer");
        if (s->fd < 0 && s->dial.fd < 0 && l->now >= s->dial.again &&
            (s == p->streams || p->up > 0))
            dial(s);
    }
}

void tcp_join_tick(struct tcp_link *l)
{
    for (size_t i = 0; i < l->guests_n; i++)
        if (l->guests[i].fd >= 0 && is_late(&l->guests[i], l->now))
            refuse(l, &l->guests[i]);
    for (int r = 0; r < l->host.ranks; r++)
        if (r != l->host.rank && tcp_join_calls(l, r) && !l->peers[r].closed)
            dial_due(&l->peers[r]);
}

bool tcp_join_busy(const struct tcp_link *l)
{
    for (size_t i = 0; i < l->guests_n; i++)
        if (l->guests[i].fd >= 0)
            return true;
    for (const struct tcp_stream *s = l->streams; s < l->streams_end; s++)
        if (s->dial.fd >= 0)
            return true;
    return false;
}
