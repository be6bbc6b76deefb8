/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/tcp_hello.h"

#include <errno.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define HELLO_S 5.0 /* for the whole of it */
#define LATER_S 2.0 /* than this link: who is silent is named, not dialled again */
#define REDIAL_S 0.05

struct tcp_hello *tcp_hello_new(struct tcp_link *l, int fd, enum tcp_hello_step step,
                                uint32_t events)
{
    struct tcp_hello *h = calloc(1, sizeof *h);
    if (!h || tcp_watch(l, EPOLL_CTL_ADD, fd, events, h)) {
        free(h);
        close(fd);
        return NULL;
    }
    *h = (struct tcp_hello){.watched = TCP_HELLO, .step = step, .fd = fd};
    tcp_hello_list(h, l);
    return h;
}

void tcp_hello_list(struct tcp_hello *h, struct tcp_link *l)
{
    h->link = l;
    h->deadline = now_s() + HELLO_S;
    h->next = l->hellos;
    l->hellos = h;
    l->hellos_n++;
}

void tcp_hello_unlist(struct tcp_hello *h)
{
    struct tcp_hello **at = &h->link->hellos;
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    h->link->hellos_n--;
}

/* The socket stays open, for a stream, or is closed by the caller. */
static void hello_free(struct tcp_hello *h)
{
    tcp_hello_unlist(h);
    if (h->stream && h->stream->hello == h)
        h->stream->hello = NULL;
    free(h);
}

bool tcp_hello_calls(const struct tcp_link *l, int peer)
{
    const struct tcp_contact *me = &l->peers[l->host.rank].contact, *c = &l->peers[peer].contact;
    bool alike = me->node == c->node || me->closed == c->closed;
    return alike ? l->host.rank > peer : me->closed;
}

static bool calls(const struct tcp_hello *h)
{
    return h->step == TCP_CONNECTING || h->step == TCP_WANTS_ANSWER;
}

void tcp_hello_drop(struct tcp_hello *h, const char *why)
{
    struct tcp_link *l = h->link;
    struct tcp_stream *s = h->stream;
    if (!s) {
        l->seen.strangers++;
    } else if (calls(h)) {
        struct tcp_peer *p = s->peer;
        char at[64];
        tcp_contact_text(&p->contact, p->address, at, sizeof at);
        snprintf(p->last, sizeof p->last, "%s: %s", at, why);
        p->refusals++;
        if (p->up == 0)
            p->address = (p->address + 1) % p->contact.addresses;
        s->redial = l->now + REDIAL_S * (p->refusals < 20 ? p->refusals : 20);
    }
    close(h->fd);
    hello_free(h);
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

/* Once the stream is known. */
static const struct tcp_pair_keys *keys_of(const struct tcp_hello *h)
{
    return &h->link->pairs[h->stream->peer->rank];
}

static void proved(struct tcp_hello *h)
{
    struct tcp_stream *s = h->stream;
    struct tcp_link *l = h->link;
    struct tcp_ways keys;
    int fd = h->fd;
    bool called = !calls(h);
    tcp_keys_connection(keys_of(h), &h->call, &h->answer, !called, l->options.protection, &keys);
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL);
    hello_free(h);
    set_options(fd, &l->options);
    if (called)
        set_congestion(fd, l->options.congestion); /* a shared listener has the kernel's default */
    tcp_stream_up(s, fd, &keys);
    sodium_memzero(&keys, sizeof keys);
}

/* A few bytes on a new connection: the kernel takes them whole, or it is broken. */
static bool say_it(struct tcp_hello *h, const void *message, size_t bytes)
{
    return send(h->fd, message, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)bytes;
}

static void other_version(struct tcp_link *l, const struct tcp_peer *p, unsigned version)
{
    tcp_fail(l,
             "rank %d (%s) speaks version %u of the tcp transport, this rank version %d: run the "
             "same gradsync on every host",
             p->rank, p->contact.host, version, TCP_VERSION);
}

static void take_call(struct tcp_hello *h)
{
    tcp_door_hand_over(h);
    struct tcp_link *l = h->link;
    const struct tcp_call *c = &h->call;
    if (c->to != l->host.rank || c->from == c->to || c->from >= l->host.ranks ||
        tcp_hello_calls(l, c->from) || c->stream >= l->options.streams ||
        !tcp_call_proved(&l->pairs[c->from].hello, c)) {
        tcp_hello_drop(h, "");
        return;
    }
    struct tcp_peer *p = &l->peers[c->from];
    h->stream = &p->streams[c->stream];
    tcp_answer_make(&keys_of(h)->hello, c, &h->answer);
    bool said = say_it(h, &h->answer, sizeof h->answer);
    if (c->version != TCP_VERSION)
        other_version(l, p, c->version);
    if (!said) {
        tcp_hello_drop(h, "");
        return;
    }
    h->step = TCP_WANTS_CONFIRM;
    h->have = 0;
}

static void take_answer(struct tcp_hello *h)
{
    struct tcp_link *l = h->link;
    if (!tcp_answer_proved(&keys_of(h)->hello, &h->call, &h->answer)) {
        tcp_hello_drop(h, "its proof of the secret is wrong");
        return;
    }
    if (h->answer.version != TCP_VERSION) {
        other_version(l, h->stream->peer, h->answer.version);
        return;
    }
    tcp_confirm_make(&keys_of(h)->hello, &h->call, &h->answer, &h->confirm);
    if (say_it(h, &h->confirm, sizeof h->confirm))
        proved(h);
    else
        tcp_hello_drop(h, "closed during the handshake");
}

static void take_confirm(struct tcp_hello *h)
{
    if (tcp_confirm_proved(&keys_of(h)->hello, &h->call, &h->answer, &h->confirm)) {
        proved(h);
    } else {
        h->stream = NULL; /* a recorded call, said again */
        tcp_hello_drop(h, "");
    }
}

static void connected(struct tcp_hello *h)
{
    int error = 0;
    socklen_t n = sizeof error;
    getsockopt(h->fd, SOL_SOCKET, SO_ERROR, &error, &n);
    struct tcp_stream *s = h->stream;
    tcp_call_make(&keys_of(h)->hello, TCP_VERSION, h->link->host.rank, s->peer->rank,
                  s->index, &h->call);
    if (error || !say_it(h, &h->call, sizeof h->call)) {
        tcp_hello_drop(h, strerror(error ? error : errno));
        return;
    }
    h->step = TCP_WANTS_ANSWER;
    tcp_watch(h->link, EPOLL_CTL_MOD, h->fd, EPOLLIN, h);
}

void tcp_hello_step(struct tcp_hello *h)
{
    const struct {
        void *message;
        size_t bytes;
        void (*take)(struct tcp_hello *);
    } steps[] = {
        [TCP_CONNECTING] = {NULL, 0, connected},
        [TCP_WANTS_ANSWER] = {&h->answer, sizeof h->answer, take_answer},
        [TCP_WANTS_CALL] = {&h->call, sizeof h->call, take_call},
        [TCP_WANTS_CONFIRM] = {&h->confirm, sizeof h->confirm, take_confirm},
    };
    uint8_t *message = steps[h->step].message;
    size_t bytes = steps[h->step].bytes;
    if (!message) {
        steps[h->step].take(h);
        return;
    }
    ssize_t n = recv(h->fd, message + h->have, bytes - h->have, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (n <= 0) {
        tcp_hello_drop(h, "refused the connection; check that both have the same secret_file");
        return;
    }
    h->have += (size_t)n;
    if (h->have == bytes)
        steps[h->step].take(h);
}

static void dial(struct tcp_stream *s)
{
    struct tcp_peer *p = s->peer;
    struct tcp_link *l = p->link;
    struct sockaddr_storage a;
    socklen_t n = tcp_contact_address(&p->contact, p->address, &a);
    int fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct tcp_hello *h = fd < 0 ? NULL : tcp_hello_new(l, fd, TCP_CONNECTING, EPOLLOUT);
    if (!h) {
        tcp_fail(l, "a socket for rank %d: %s", p->rank, strerror(errno));
        return;
    }
    h->stream = s;
    s->hello = h;
    set_congestion(fd, l->options.congestion);
    if (connect(fd, (struct sockaddr *)&a, n) && errno != EINPROGRESS)
        tcp_hello_drop(h, strerror(errno));
}

/* One stream finds the address; the others follow it. */
static void dial_due(struct tcp_peer *p)
{
    struct tcp_link *l = p->link;
    for (int i = 0; i < l->options.streams && !l->failed; i++) {
        struct tcp_stream *s = &p->streams[i];
        if (s->fd < 0 && !s->hello && l->now >= s->redial && (i == 0 || p->up > 0))
            dial(s);
    }
}

void tcp_hello_tick(struct tcp_link *l)
{
    for (struct tcp_hello *h = l->hellos, *next; h; h = next) {
        next = h->next;
        if (l->now > h->deadline)
            tcp_hello_drop(h, "no answer");
    }
    for (int r = 0; r < l->host.ranks; r++)
        if (r != l->host.rank && tcp_hello_calls(l, r) && !l->peers[r].closed)
            dial_due(&l->peers[r]);
}
