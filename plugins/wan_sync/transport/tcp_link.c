/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/tcp_parts.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define TICK_S 0.005   /* while blocks are on their way */
#define IDLE_S 0.1     /* while none is */
#define UNDRIVEN_S 0.5 /* longer between turns: it was we who were away, not the peers */
#define ALIVE_S 1.0    /* a peer hears from us at least as often */
#define COME_BACK_S 5.0
#define BATCH 64

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

int tcp_watch(struct tcp_link *l, int op, int fd, uint32_t events, void *what)
{
    struct epoll_event e = {.events = events, .data.ptr = what};
    if (epoll_ctl(l->epoll, op, fd, &e) == 0)
        return 0;
    return tcp_fail(l, "epoll: %s", strerror(errno));
}

int tcp_tell(struct tcp_link *l, enum wan_done done, int peer, uint64_t id)
{
    struct tcp_events *e = &l->events;
    if (e->n == e->cap) {
        size_t cap = e->cap ? 2 * e->cap : 256;
        struct wan_event *v = malloc(cap * sizeof *v);
        if (!v)
            return tcp_fail(l, "no memory for %zu events", cap);
        for (size_t i = 0; i < e->n; i++)
            v[i] = e->v[(e->head + i) % e->cap];
        free(e->v);
        e->v = v, e->cap = cap, e->head = 0;
    }
    e->v[(e->head + e->n++) % e->cap] = (struct wan_event){.done = done, .peer = peer, .id = id};
    return 0;
}

static bool take_event(struct tcp_link *l, struct wan_event *out)
{
    struct tcp_events *e = &l->events;
    if (e->n == 0)
        return false;
    *out = e->v[e->head];
    e->head = (e->head + 1) % e->cap;
    e->n--;
    return true;
}

/* Is there still hope in a peer that something waits for? */
static void check_peer(struct tcp_peer *p)
{
    struct tcp_link *l = p->link;
    const struct link_tcp_options *o = &l->options;
    if (p->up > 0 && l->now - p->spoke > fmin(ALIVE_S, o->deadline_s / 4))
        tcp_out_say(p);
    if (p->closed && p->up == 0 && (p->posted > 0 || p->queue.head)) {
        tcp_fail(l, "rank %d (%s) has left%s%s", p->rank, p->contact.host, p->bye[0] ? ": " : "",
                 p->bye);
    } else if (l->closing || !tcp_peer_waits(p) || p->closed) {
        return;
    } else if (p->up == 0 && l->now - p->down_since > fmin(COME_BACK_S, o->deadline_s)) {
        tcp_fail(l,
                 "rank %d (%s) is gone: its connections broke and were not reopened within %g s"
                 " (%s)",
                 p->rank, p->contact.host, fmin(COME_BACK_S, o->deadline_s), p->last);
    } else if (p->up > 0 && l->now - p->heard > o->deadline_s) {
        tcp_fail(l, "rank %d (%s) has not answered for %g s", p->rank, p->contact.host,
                 o->deadline_s);
    }
}

static void tick(struct tcp_link *l)
{
    double away = l->now - l->ticked;
    l->ticked = l->now;
    tcp_join_tick(l);
    for (int r = 0; r < l->host.ranks && !l->failed; r++) {
        struct tcp_peer *p = &l->peers[r];
        if (!p->streams)
            continue;
        if (away > UNDRIVEN_S)
            p->heard += away, p->down_since += away;
        check_peer(p);
    }
}

static void handle(struct tcp_link *l, const struct epoll_event *e)
{
    enum tcp_watched *what = e->data.ptr;
    switch (*what) {
    case TCP_GUEST:
        tcp_join_guest(l, (struct tcp_guest *)(void *)what);
        break;
    case TCP_DIAL:
        tcp_join_dial(l, (struct tcp_dial *)(void *)what);
        break;
    case TCP_LISTENER: /* after all others, who may still need their places */
        break;
    case TCP_STREAM:
        if (e->events & EPOLLOUT)
            tcp_out_push((struct tcp_stream *)(void *)what);
        if (e->events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            tcp_in_pull((struct tcp_stream *)(void *)what);
        break;
    case TCP_WAKE: /* stays readable: every turn ends at once from now on */
        break;
    }
}

int tcp_turn(struct tcp_link *l, double timeout_s)
{
    struct epoll_event events[BATCH];
    l->now = now_s();
    if (l->begins)
        tcp_peers_begin(l);
    if (l->asked)
        tcp_grants_tell(l);
    bool flows = tcp_meter_tick(l);
    double wait = fmax(0, fmin(timeout_s, flows || tcp_join_busy(l) ? TICK_S : IDLE_S));
    struct timespec t = {.tv_sec = (time_t)wait,
                         .tv_nsec = (long)((wait - (double)(time_t)wait) * 1e9)};
    int n = epoll_pwait2(l->epoll, events, BATCH, &t, NULL);
    l->now = now_s();
    if (n < 0 && errno != EINTR)
        return tcp_fail(l, "epoll_pwait2: %s (Linux 5.11 or newer has it)", strerror(errno));
    for (int i = 0; i < n && !l->failed; i++)
        handle(l, &events[i]);
    if (l->now - l->ticked > TICK_S)
        tick(l);
    for (int i = 0; i < n && !l->failed; i++)
        if (events[i].data.ptr == &l->listener_watched)
            tcp_join_accept(l);
    if (atomic_load(&l->aborted))
        return tcp_fail(l, "stopped from outside");
    return l->failed ? -1 : 0;
}

static struct tcp_link *link_of(const struct wan_link *base)
{
    return (struct tcp_link *)(uintptr_t)base;
}

static struct tcp_peer *peer_of(struct tcp_link *l, int rank)
{
    if (rank >= 0 && rank < l->host.ranks && rank != l->host.rank)
        return &l->peers[rank];
    tcp_fail(l, "no peer %d: they are 0 to %d, without %d", rank, l->host.ranks - 1, l->host.rank);
    return NULL;
}

static int link_send(struct wan_link *base, int peer, uint64_t id, const void *data, size_t bytes)
{
    struct tcp_link *l = link_of(base);
    struct tcp_peer *p = l->failed ? NULL : peer_of(l, peer);
    return p ? tcp_peer_send(p, id, data, bytes) : -1;
}

static int link_recv(struct wan_link *base, int peer, uint64_t id, void *data, size_t bytes)
{
    struct tcp_link *l = link_of(base);
    struct tcp_peer *p = l->failed ? NULL : peer_of(l, peer);
    return p ? tcp_peer_post(p, id, data, bytes) : -1;
}

static int link_next(struct wan_link *base, struct wan_event *out, double timeout_s)
{
    struct tcp_link *l = link_of(base);
    double end = now_s() + timeout_s;
    do {
        if (take_event(l, out))
            return 1;
        if (l->failed)
            return -1;
        tcp_turn(l, end - now_s());
    } while (l->events.n > 0 || l->failed || l->now < end);
    return 0;
}

static bool settled(const struct tcp_link *l)
{
    for (int r = 0; r < l->host.ranks; r++) {
        const struct tcp_peer *p = &l->peers[r];
        if (!p->streams || p->closed)
            continue;
        if (p->unacked > 0)
            return false;
        for (int i = 0; i < l->options.streams; i++)
            if (p->streams[i].sending || p->streams[i].ack_due)
                return false;
    }
    return true;
}

static int link_settle(struct wan_link *base, double timeout_s)
{
    struct tcp_link *l = link_of(base);
    double end = now_s() + timeout_s;
    while (!settled(l)) {
        if (l->now > end)
            return tcp_fail(l, "peers have not received all blocks after %g s", timeout_s);
        if (tcp_turn(l, end - now_s()))
            return -1;
    }
    return 0;
}

static void link_stats(const struct wan_link *base, struct wan_link_stats *out)
{
    const struct tcp_link *l = link_of(base);
    *out = l->stats;
    out->reopened = l->seen.reopened, out->strangers = l->seen.strangers;
}

void link_tcp_events(const struct wan_link *base, struct link_tcp_events *out)
{
    *out = link_of(base)->seen;
}

static void link_abort(struct wan_link *base)
{
    struct tcp_link *l = link_of(base);
    uint64_t one = 1;
    atomic_store(&l->aborted, true);
    if (write(l->wake, &one, sizeof one) < 0)
        return; /* the turn ends by itself within IDLE_S */
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void link_close(struct wan_link *base)
{
    struct tcp_link *l = link_of(base);
    l->closing = true;
    tcp_join_close(l);
    for (int r = 0; l->peers && r < l->host.ranks; r++) {
        if (!l->peers[r].streams)
            continue;
        tcp_out_bye(&l->peers[r], l->failed ? l->base.why : "");
        tcp_peer_free(&l->peers[r]);
    }
    free(l->peers);
    free(l->events.v);
    close_fd(l->wake);
    close_fd(l->epoll);
    free(l);
}

const struct wan_link_ops tcp_link_ops = {
    .name = "tcp",
    .send = link_send,
    .recv = link_recv,
    .next = link_next,
    .settle = link_settle,
    .stats = link_stats,
    .abort = link_abort,
    .close = link_close,
};
