/* SPDX-License-Identifier: Apache-2.0
 *
 * A connection until both ends have shown the cookie of the link, at the start and whenever a stream
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
#include "wan_sync/transport/tcp_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#define GUESTS_EXTRA 64 /* beside all streams of the other ranks */
#define ACCEPTS 64      /* in one turn of the loop */
#define JOIN_S 5.0      /* for the whole of it */
#define SPOKEN_S 1.0    /* from a guest's first byte to its last */
#define LATER_S 2.0     /* than this link: who is silent is named, not dialled again */
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
    if (!l->guests) {
        snprintf(why, size, "no memory for %zu connections", l->guests_n);
        return -1;
    }
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
    for (int r = 0; l->peers && r < l->host.ranks; r++)
        for (int i = 0; l->peers[r].streams && i < l->options.streams; i++)
            dial_end(&l->peers[r].streams[i].dial);
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

static void set_options(int fd, const struct link_tcp_options *o)
{
    const struct {
        int level, name, value;
    } all[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {IPPROTO_TCP, TCP_NOTSENT_LOWAT, TCP_UNSENT_LOW_B},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, (int)((o->deadline_s + LATER_S) * 1e3)},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, 10},
        {IPPROTO_TCP, TCP_KEEPINTVL, 5},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        setsockopt(fd, all[i].level, all[i].name, &all[i].value, sizeof all[i].value);
}

static void stream_up(struct tcp_link *l, struct tcp_stream *s, int fd)
{
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL);
    set_options(fd, &l->options);
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
    l->seen.strangers++;
    close(g->fd);
    g->fd = -1;
}

static bool is_late(const struct tcp_guest *g, double now)
{
    return now - g->came > JOIN_S || (g->spoke > 0 && now - g->spoke > SPOKEN_S);
}

static struct tcp_guest *free_place(struct tcp_link *l)
{
    for (size_t i = 0; i < l->guests_n; i++)
        if (l->guests[i].fd < 0)
            return &l->guests[i];
    return NULL;
}

/* A free place, or that of the oldest guest, one that is late before all others. A rank's cookie
 * comes in its first packet, so the oldest is heard once more. */
static struct tcp_guest *make_place(struct tcp_link *l)
{
    struct tcp_guest *g = free_place(l);
    if (g)
        return g;
    g = l->guests;
    for (size_t i = 1; i < l->guests_n; i++) {
        const struct tcp_guest *o = &l->guests[i];
        bool late = is_late(o, l->now), later = is_late(g, l->now);
        if (late != later ? late : o->came < g->came)
            g = &l->guests[i];
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
    for (int i = 0; i < l->options.streams && !l->failed; i++) {
        struct tcp_stream *s = &p->streams[i];
        if (s->dial.fd >= 0 && l->now > s->dial.deadline)
            dial_failed(s, "no answer");
        if (s->fd < 0 && s->dial.fd < 0 && l->now >= s->dial.again && (i == 0 || p->up > 0))
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
    for (int r = 0; r < l->host.ranks; r++)
        for (int i = 0; l->peers[r].streams && i < l->options.streams; i++)
            if (l->peers[r].streams[i].dial.fd >= 0)
                return true;
    return false;
}
