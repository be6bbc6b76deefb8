/* SPDX-License-Identifier: Apache-2.0
 *
 * The tcp transport: it opens a link to all ranks, and sends and receives blocks.
 */
#include "wan_sync/transport/tcp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* ==== what a link tells its caller ==== */

static int queue_event(struct tcp_link *l, struct link_event event)
{
    struct tcp_events *e = &l->events;
    if (e->n == e->cap) {
        size_t cap = e->cap ? 2 * e->cap : 256;
        struct link_event *v = malloc(cap * sizeof *v);
        if (!v)
            return tcp_fail(l, "no memory for %zu events", cap);
        for (size_t i = 0; i < e->n; i++)
            v[i] = e->v[(e->head + i) % e->cap];
        free(e->v);
        e->v = v, e->cap = cap, e->head = 0;
    }
    e->v[(e->head + e->n++) % e->cap] = event;
    return 0;
}

/* A stream broke: a peer that failed has said why. */
static int stream_lost(struct tcp_stream *s, const char *reason)
{
    struct tcp_peer *p = s->peer;
    return tcp_fail(p->link, "rank %d (%s) has left: %s", p->rank, p->contact.host,
                    p->bye[0] ? p->bye : reason);
}

static int watch_stream(struct tcp_stream *s, int op, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = s};
    if (epoll_ctl(s->peer->link->epoll, op, s->fd, &e) == 0)
        return 0;
    return tcp_fail(s->peer->link, "epoll: %s", strerror(errno));
}

/* ==== the pace ==== */

#define PACE_EVERY_S 0.005
#define BURST_EVERY_S 0.5 /* a stream paced to less sleeps for seconds, whatever comes */
#define NO_LIMIT_BPS 1e11 /* not ~0: the kernel then takes the stream for one that is not paced */

static void pace_stream(struct tcp_stream *s, double rate)
{
    uint64_t paced = (uint64_t)fmax(rate, 2 * s->peer->link->mss_B / BURST_EVERY_S);
    if (fabs((double)paced - (double)s->paced) <= 0.02 * (double)s->paced)
        return;
    if (setsockopt(s->fd, SOL_SOCKET, SO_MAX_PACING_RATE, &paced, sizeof paced) == 0)
        s->paced = paced;
}

/* The rate of the uplink is divided among the streams that have something to send, and what a slower way to
 * a peer carries among those to this peer. A way that the probe could not fill is not paced: its streams lose
 * packets or wait for their receiver, and are slow by themselves. */
static void divide_rate(struct tcp_link *l)
{
    double all = 0;
    for (size_t i = 0; i < l->streams_n; i++)
        all += l->streams[i].active && !l->streams[i].peer->local;
    for (int r = 0; r < l->host.ranks; r++) {
        struct tcp_peer *p = &l->peers[r];
        if (!p->streams || p->local)
            continue;
        double here = 0, rate = l->probe_Bps / fmax(all, 1);
        for (int i = 0; i < l->options.streams; i++)
            here += p->streams[i].active;
        if (l->probe_Bps <= 0)
            rate = l->full ? WAN_HEADROOM * l->rate / fmax(all, 1) : NO_LIMIT_BPS;
        if (l->probe_Bps <= 0 && p->full)
            rate = fmin(rate, WAN_HEADROOM * p->rate / fmax(here, 1));
        for (int i = 0; i < l->options.streams; i++)
            pace_stream(&p->streams[i], rate);
    }
}

/* Paces the streams that have something to send. Returns whether there are any. */
static bool pace_streams(struct tcp_link *l)
{
    bool due = l->paces && l->now - l->paced_at >= PACE_EVERY_S, flows = false, queued = false;
    for (size_t i = 0; i < l->streams_n; i++) {
        struct tcp_stream *s = &l->streams[i];
        int unsent = 0;
        queued = queued || s->peer->queue;
        if (due)
            s->active = s->sending || (ioctl(s->fd, SIOCOUTQNSD, &unsent) == 0 && unsent > 0);
        flows = flows || s->active || s->sending;
    }
    if (due) {
        l->paced_at = l->now;
        l->rests = !flows && !queued;
        divide_rate(l);
    }
    return flows;
}

/* After a rest: chooses how many streams to each peer will send the queued blocks, and paces these before they
 * have one. The kernel chooses the gap behind a packet when this leaves, so a pace that is set later comes too
 * late for the first gap. */
static void pace_after_rest(struct tcp_link *l)
{
    int peers = 0, most = l->options.streams;
    double rtt_s = 0;
    for (int r = 0; r < l->host.ranks; r++) {
        peers += l->peers[r].queue && !l->peers[r].local;
        rtt_s = fmax(rtt_s, l->peers[r].queue ? l->peers[r].rtt_s : 0);
    }
    if (!l->paces || !peers)
        return;
    /* As many as burst to half of what the way holds, two segments each. */
    double worth = l->mss_B > 0 ? fmax(1, floor(l->rate * rtt_s / 2 / (2 * l->mss_B))) : 0;
    l->use = worth > 0 ? (int)fmin(most, ceil(worth / peers)) : most;
    for (int r = 0; r < l->host.ranks; r++) {
        struct tcp_peer *p = &l->peers[r];
        const struct tcp_out *b = p->queue;
        for (int i = 0; p->streams && i < most; i++, b = b ? b->next : NULL)
            p->streams[i].active = b && i < l->use;
    }
    divide_rate(l);
    l->paced_at = l->now;
}

/* ==== the sending side ==== */

static void start_frame(struct tcp_stream *s, enum tcp_frame_kind kind, const struct tcp_out *b)
{
    s->head = (struct tcp_frame){TCP_FRAME_MAGIC, kind, b->id, (uint32_t)b->bytes};
    s->payload = b->data;
    s->sent = 0;
    s->sending = true;
}

/* What a stream that is between frames sends next; false: nothing, or there is no room for it. */
static bool next_frame(struct tcp_stream *s)
{
    struct tcp_peer *p = s->peer;
    struct tcp_link *l = p->link;
    int unsent = 0;
    bool wants = (p->queue && s - p->streams < l->use) || s->probing;
    bool full = wants && ioctl(s->fd, SIOCOUTQNSD, &unsent) == 0 && unsent >= TCP_UNSENT_LOW_B;
    bool waits = full || s->probing; /* the next probe waits for its turn, too */
    if (s->waits_room != waits) {
        s->waits_room = waits;
        watch_stream(s, EPOLL_CTL_MOD, EPOLLIN | (waits ? EPOLLOUT : 0));
    }
    if (full || !wants)
        return false;
    if (p->queue && s - p->streams < l->use) {
        struct tcp_out *b = p->queue;
        p->queue = b->next;
        if (!p->queue)
            p->queue_end = &p->queue;
        start_frame(s, TCP_BLOCK, b);
        free(b);
    } else if (!l->probe_ends) {
        start_frame(s, TCP_PROBE, &(struct tcp_out){.data = l->scratch, .bytes = TCP_SCRATCH_B});
    } else {
        s->probing = false;
        start_frame(s, TCP_PROBED, &(struct tcp_out){.bytes = 0});
    }
    return s->sending;
}

static ssize_t write_some(struct tcp_stream *s)
{
    const size_t head = sizeof s->head;
    size_t of_head = s->sent < head ? head - s->sent : 0, at = s->sent > head ? s->sent - head : 0;
    struct iovec v[2] = {
        {.iov_base = (uint8_t *)&s->head + (head - of_head), .iov_len = of_head},
        {.iov_base = (uint8_t *)(uintptr_t)s->payload + at, .iov_len = s->head.bytes - at},
    };
    struct msghdr m = {.msg_iov = of_head ? v : v + 1, .msg_iovlen = of_head ? 2 : 1};
    return sendmsg(s->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Sends a frame, or its rest. False: there is none, or no room. */
static bool send_frame(struct tcp_stream *s)
{
    struct tcp_link *l = s->peer->link;
    if (l->failed || !(s->sending || next_frame(s)))
        return false;
    while (s->sent < sizeof s->head + s->head.bytes) {
        ssize_t n = write_some(s);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            s->waits_room = true;
            watch_stream(s, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
            return false;
        }
        if (n < 0 && errno != EINTR) {
            stream_lost(s, strerror(errno));
            return false;
        }
        s->sent += n > 0 ? (size_t)n : 0;
    }
    s->sending = false;
    if (s->head.kind == TCP_BLOCK) /* the kernel has it all */
        queue_event(
            l, (struct link_event){.done = LINK_SENT, .peer = s->peer->rank, .id = s->head.id});
    return true;
}

/* A block for each stream, then another: the first alone would have to open its window for all of
 * them. */
void tcp_pump(struct tcp_peer *p)
{
    const unsigned n = (unsigned)p->link->options.streams, first = p->turn++;
    for (bool more = true; more;) {
        more = false;
        for (unsigned i = 0; i < n; i++) {
            struct tcp_stream *s = &p->streams[(first + i) % n];
            if (!s->sending && !s->waits_room)
                more |= send_frame(s);
        }
    }
}

/* ==== the receiving side ==== */

#define TURN_B (1u << 20) /* of one stream, before the others have their turn */

/* A frame's head is whole. */
static int begin_frame(struct tcp_stream *s)
{
    const struct tcp_frame *f = &s->frame;
    struct tcp_peer *p = s->peer;
    uint32_t most = f->kind == TCP_BLOCK   ? TCP_BLOCK_MAX_B
                    : f->kind == TCP_PROBE ? TCP_SCRATCH_B
                    : f->kind == TCP_BYE   ? TCP_BYE_MAX_B
                                           : 0;
    if (f->magic != TCP_FRAME_MAGIC || f->kind < TCP_BLOCK || f->kind > TCP_PROBED ||
        f->bytes > most)
        return stream_lost(s, "it sent data that is not a frame");
    if (f->kind == TCP_BLOCK && !(s->block = malloc(f->bytes + 1)))
        return tcp_fail(p->link, "no memory for a block of %u bytes from rank %d", f->bytes,
                        p->rank);
    return 0;
}

static int end_frame(struct tcp_stream *s)
{
    const struct tcp_frame *f = &s->frame;
    struct tcp_peer *p = s->peer;
    s->have = 0;
    if (f->kind == TCP_PROBED)
        s->probed = true;
    if (f->kind == TCP_BYE)
        return stream_lost(s, "its run has ended");
    if (f->kind != TCP_BLOCK)
        return 0;
    void *block = s->block;
    s->block = NULL;
    return queue_event(
        p->link,
        (struct link_event){
            .done = LINK_RECEIVED, .peer = p->rank, .id = f->id, .data = block, .bytes = f->bytes});
}

static void receive_frames(struct tcp_stream *s)
{
    struct tcp_link *l = s->peer->link;
    const size_t head = sizeof s->frame;
    for (size_t taken = 0; taken < TURN_B && !l->failed;) {
        uint8_t *to = (uint8_t *)&s->frame + s->have;
        size_t left = head - s->have;
        if (s->have >= head) {
            left = head + s->frame.bytes - s->have;
            to = s->frame.kind == TCP_BLOCK ? s->block + (s->have - head)
                 : s->frame.kind == TCP_BYE ? (uint8_t *)s->peer->bye + (s->have - head)
                                            : l->scratch;
        }
        ssize_t n = recv(s->fd, to, left, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
            return;
        if (n <= 0) {
            stream_lost(s, n < 0 ? strerror(errno) : "its connection is closed");
            return;
        }
        taken += (size_t)n;
        s->have += (size_t)n;
        l->received_B += (uint64_t)n;
        if ((s->have == head && begin_frame(s)) ||
            (s->have >= head && s->have == head + s->frame.bytes && end_frame(s)))
            return;
    }
}

/* ==== a host that does not answer ==== */

#define LOOK_EVERY_S 0.5
#define LEAST_S 2.0 /* keepalive probes an idle connection once a second; two may be late */
#define ALMOST                                                                                     \
    0.9 /* of the deadline: hosts that are silent for so long are reported with the first */

/* For how long the kernel at the other end has answered on no stream. A slow or stopped program is not
 * silent, because its kernel answers. A full window is no silence, but hides one: the kernel asks ever less
 * often. */
static double silence_of(const struct tcp_peer *p)
{
    double least_s = INFINITY;
    for (int i = 0; p->streams && i < p->link->options.streams; i++) {
        struct tcp_info t = {0};
        socklen_t n = sizeof t;
        getsockopt(p->streams[i].fd, IPPROTO_TCP, TCP_INFO, &t, &n);
        bool full =
            t.tcpi_unacked == 0 && t.tcpi_notsent_bytes > 0 && t.tcpi_snd_wnd < t.tcpi_snd_mss;
        least_s =
            fmin(least_s, full ? 0 : 1e-3 * fmin(t.tcpi_last_ack_recv, t.tcpi_last_data_recv));
    }
    return isfinite(least_s) ? least_s : 0;
}

/* Tells the runner, which ends the run: MPI would wait for that host, too. */
static void look_for_silence(struct tcp_link *l)
{
    double deadline_s = fmax(l->options.deadline_s, LEAST_S);
    const struct tcp_peer *silent = NULL;
    l->looked_at = l->now;
    for (int r = 0; r < l->host.ranks && !silent; r++)
        silent = silence_of(&l->peers[r]) >= deadline_s ? &l->peers[r] : NULL;
    for (int r = 0; r < l->host.ranks && silent && l->host.lost; r++)
        if (silence_of(&l->peers[r]) >= ALMOST * deadline_s)
            l->host.lost(l->host.ctx, l->peers[r].contact.host);
    if (silent)
        tcp_fail(l, "rank %d (%s) has not answered for %g s", silent->rank, silent->contact.host,
                 deadline_s);
}

/* ==== the loop, and the operations of the link ==== */

#define TICK_S 0.005 /* while blocks are on their way */
#define IDLE_S 0.1   /* while none is */
#define BATCH 64

int tcp_turn(struct tcp_link *l, double timeout_s)
{
    struct epoll_event events[BATCH];
    l->now = now_s();
    if (l->begins) {
        pace_after_rest(l);
        l->rests = l->begins = false;
        /* Each rank begins with another peer: the blocks of all would wait for each other at that one's end. */
        for (int k = 1; k < l->host.ranks; k++)
            tcp_pump(&l->peers[(l->host.rank + k) % l->host.ranks]);
    }
    double wait = fmax(0, fmin(timeout_s, pace_streams(l) ? TICK_S : IDLE_S));
    struct timespec t = {.tv_sec = (time_t)wait,
                         .tv_nsec = (long)((wait - (double)(time_t)wait) * 1e9)};
    int n = epoll_pwait2(l->epoll, events, BATCH, &t, NULL);
    l->now = now_s();
    if (n < 0 && errno != EINTR)
        return tcp_fail(l, "epoll_pwait2: %s (Linux 5.11 or newer has it)", strerror(errno));
    for (int i = 0; i < n && !l->failed; i++) {
        struct tcp_stream *s = events[i].data.ptr; /* NULL: abort() woke this thread */
        /* One probe a turn: to a peer that reads as fast as this rank writes, they would never end. */
        while (s && events[i].events & EPOLLOUT && send_frame(s) && !s->probing)
            ;
        if (s && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            receive_frames(s);
    }
    if (l->now - l->looked_at > LOOK_EVERY_S)
        look_for_silence(l);
    if (atomic_load(&l->aborted))
        return tcp_fail(l, "stopped from outside");
    return l->failed ? -1 : 0;
}

static int link_send(struct link *base, int peer, uint32_t id, const void *data, size_t bytes)
{
    struct tcp_link *l = (struct tcp_link *)base;
    if (l->failed)
        return -1;
    struct tcp_peer *p = &l->peers[peer];
    struct tcp_out *b = malloc(sizeof *b);
    if (!b)
        return tcp_fail(l, "no memory for a block to rank %d", peer);
    *b = (struct tcp_out){.id = id, .data = data, .bytes = bytes};
    *p->queue_end = b;
    p->queue_end = &b->next;
    if (l->rests)
        l->begins = true;
    else
        tcp_pump(p);
    return 0;
}

static int link_next(struct link *base, struct link_event *out, double timeout_s)
{
    struct tcp_link *l = (struct tcp_link *)base;
    struct tcp_events *e = &l->events;
    double end = now_s() + timeout_s;
    do {
        if (e->n > 0) {
            *out = e->v[e->head];
            e->head = (e->head + 1) % e->cap;
            e->n--;
            return 1;
        }
        if (l->failed)
            return -1;
        tcp_turn(l, end - now_s());
    } while (e->n > 0 || l->failed || l->now < end);
    return 0;
}

static bool is_settled(const struct tcp_link *l)
{
    for (int r = 0; r < l->host.ranks; r++)
        if (l->peers[r].queue)
            return false;
    for (size_t i = 0; i < l->streams_n; i++)
        if (l->streams[i].sending)
            return false;
    return true;
}

static int link_settle(struct link *base, double timeout_s)
{
    struct tcp_link *l = (struct tcp_link *)base;
    for (double end = now_s() + timeout_s; !is_settled(l);) {
        if (l->now > end)
            return tcp_fail(l, "peers have not taken all blocks after %g s", timeout_s);
        if (tcp_turn(l, end - now_s()))
            return -1;
    }
    return 0;
}

static void link_abort(struct link *base)
{
    struct tcp_link *l = (struct tcp_link *)base;
    uint64_t one = 1;
    atomic_store(&l->aborted, true);
    if (write(l->wake, &one, sizeof one) < 0)
        return; /* the turn ends by itself within IDLE_S */
}

/* Tells the peers why, on one stream that is between frames; where there is none, they see a reset. */
static void say_goodbye(const struct tcp_link *l, struct tcp_peer *p)
{
    const char *text = l->failed ? l->base.why : "";
    for (int i = 0; p->streams && i < l->options.streams; i++) {
        struct tcp_stream *s = &p->streams[i];
        if (s->fd < 0 || s->sending)
            continue;
        start_frame(s, TCP_BYE,
                    &(struct tcp_out){.data = text, .bytes = strnlen(text, TCP_BYE_MAX_B)});
        if (write_some(s) > 0)
            return;
    }
}

static void link_close(struct link *base)
{
    struct tcp_link *l = (struct tcp_link *)base;
    for (int r = 0; l->peers && r < l->host.ranks; r++) {
        struct tcp_peer *p = &l->peers[r];
        say_goodbye(l, p);
        for (struct tcp_out *next, *b = p->queue; b; b = next) {
            next = b->next;
            free(b);
        }
    }
    for (size_t i = 0; i < l->streams_n; i++) {
        if (l->streams[i].fd >= 0)
            close(l->streams[i].fd);
        free(l->streams[i].block);
    }
    for (size_t i = 0; i < l->events.n; i++)
        free(l->events.v[(l->events.head + i) % l->events.cap].data);
    const int fds[] = {l->listener, l->wake, l->epoll};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(l->peers);
    free(l->streams);
    free(l->events.v);
    free(l);
}

static const struct link_ops tcp_ops = {
    .name = "tcp",
    .send = link_send,
    .next = link_next,
    .settle = link_settle,
    .abort = link_abort,
    .close = link_close,
};

/* ==== opening ==== */

/* What a rank tells the others after each step: where it is, or why it cannot go on. */
struct word {
    char why[200]; /* empty: all is well */
    struct tcp_contact contact;
    struct tcp_cookie cookie; /* of rank 0 */
};

/* All that a rank does alone. */
static int prepare_own(struct tcp_link *l, struct word *own, char *why, size_t size)
{
    const int n = l->options.streams, port = l->options.port, local = l->host.local_ranks;
    if (port > 0 && port + local - 1 > 65535)
        return LINK_WHY(why, size, "port = %d: with %d ranks per node it must be 0 to %d", port,
                        local, 65536 - local);
    if (l->host.ranks > UINT16_MAX)
        return LINK_WHY(why, size, "%d ranks: at most %d are supported", l->host.ranks, UINT16_MAX);
    if (tcp_join_listen(l, &own->contact, why, size))
        return -1;
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->peers = calloc((size_t)l->host.ranks, sizeof *l->peers);
    l->streams = calloc((size_t)l->host.ranks * (size_t)n, sizeof *l->streams);
    struct epoll_event e = {.events = EPOLLIN};
    if (l->epoll < 0 || l->wake < 0 || !l->peers || !l->streams ||
        epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->wake, &e) ||
        (l->host.rank == 0 && tcp_cookie_draw(&own->cookie)))
        return LINK_WHY(why, size, "opening the tcp transport: %s", strerror(errno));
    for (int r = 0; r < l->host.ranks; r++) {
        struct tcp_peer *p = &l->peers[r];
        *p = (struct tcp_peer){.link = l, .rank = r, .queue_end = &p->queue};
        if (r == l->host.rank)
            continue;
        p->streams = l->streams + l->streams_n;
        for (int i = 0; i < n; i++)
            l->streams[l->streams_n++] = (struct tcp_stream){.peer = p, .fd = -1};
    }
    return 0;
}

/* A step that each rank does, and whether all of them did it: every rank hears every rank. 0, or -1 and
 * the first rank's reason, the same line everywhere. */
static int all_did(struct tcp_link *l, int rc, struct word *own, char *why, size_t size)
{
    if (rc && !own->why[0])
        snprintf(own->why, sizeof own->why, "%.199s",
                 l->base.why[0] ? l->base.why : "could not open the tcp transport");
    rc = 0;
    for (int r = 0; r < l->host.ranks; r++) {
        struct word w = *own;
        l->host.bcast(l->host.ctx, &w, sizeof w, r);
        if (w.why[0] && rc == 0) {
            rc = -1;
            snprintf(why, size, "rank %d (%.63s): %.199s", r, w.contact.host, w.why);
        }
        if (r == 0)
            l->cookie = w.cookie;
        if (!l->peers)
            continue;
        l->peers[r].contact = w.contact;
        l->peers[r].local = l->paces && !strcmp(w.contact.host, own->contact.host);
    }
    return rc;
}

static int join_and_watch(struct tcp_link *l)
{
    if (tcp_join(l))
        return -1;
    for (size_t i = 0; i < l->streams_n; i++)
        if (watch_stream(&l->streams[i], EPOLL_CTL_ADD, EPOLLIN))
            return -1;
    return 0;
}

static void note_facts(const struct tcp_link *l)
{
    const struct wl_host *h = &l->host;
    char text[64] = "?";
    socklen_t n = sizeof text - 1;
    if (!h->note)
        return;
    if (l->options.congestion[0])
        snprintf(text, sizeof text, "%s", l->options.congestion);
    else if (l->streams_n)
        getsockopt(l->streams[0].fd, IPPROTO_TCP, TCP_CONGESTION, text, &n);
    h->note(h->ctx, "tcp_congestion", text);
    h->note(h->ctx, "tcp_interface", l->options.interface[0] ? l->options.interface : "any");
    if (l->strangers) {
        snprintf(text, sizeof text, "%u", l->strangers);
        h->note(h->ctx, "strangers", text);
    }
}

int tcp_open(struct link **out, const struct wl_host *host, const struct tcp_options *options,
             char *why, size_t why_size)
{
    struct tcp_link *l = calloc(1, sizeof *l);
    struct word own = {.why = ""};
    if (!l)
        return LINK_WHY(why, why_size, "no memory");
    l->base.ops = &tcp_ops;
    memcpy(&l->host, host, host->size < sizeof l->host ? host->size : sizeof l->host);
    l->options = *options;
    l->use = options->streams;
    l->epoll = l->listener = l->wake = -1;
    l->paces = host->nodes > 1 &&
               !options->unpaced; /* between processes of one host there is no link to fill */
    if (all_did(l, prepare_own(l, &own, own.why, sizeof own.why), &own, why, why_size) ||
        all_did(l, join_and_watch(l), &own, why, why_size)) {
        tcp_fail(l, "%s", why);
        tcp_ops.close(&l->base);
        return -1;
    }
    note_facts(l);
    *out = &l->base;
    return 0;
}
