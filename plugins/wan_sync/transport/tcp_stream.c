/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks between two ranks: the queue of a peer, its streams in both directions, and buffers.
 */
#include "wan_sync/transport/tcp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

static void tcp_peer_pump(struct tcp_peer *p);
static bool tcp_out_frame(struct tcp_stream *s);
static void tcp_out_say(struct tcp_peer *p);
static int tcp_stream_lost(struct tcp_stream *s, const char *reason); /* -1 */

/* ==== what a link tells its caller ==== */

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

static int tcp_tell(struct tcp_link *l, enum link_done done, int peer, uint64_t id)
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
    e->v[(e->head + e->n++) % e->cap] = (struct link_event){.done = done, .peer = peer, .id = id};
    return 0;
}

/* ==== where blocks go ==== */

/* Which came already, and a buffer for each that is awaited or was not awaited
 * yet. */

static bool tcp_peer_came(const struct tcp_peer *p, uint64_t seq)
{
    return seq < p->low || p->came[seq / 64 % (TCP_SEQ_WINDOW / 64)] >> seq % 64 & 1;
}

static void tcp_peer_mark(struct tcp_peer *p, uint64_t seq)
{
    p->came[seq / 64 % (TCP_SEQ_WINDOW / 64)] |= UINT64_C(1) << seq % 64;
    for (;;) {
        uint64_t *word = &p->came[p->low / 64 % (TCP_SEQ_WINDOW / 64)];
        uint64_t bit = UINT64_C(1) << p->low % 64;
        if (!(*word & bit))
            return;
        *word &= ~bit;
        p->low++;
    }
}

static struct tcp_slot **bucket(struct tcp_peer *p, uint64_t id)
{
    _Static_assert(TCP_SLOTS == 1u << 10, "the hash has 10 bits");
    return &p->slots[(id * UINT64_C(0x9E3779B97F4A7C15)) >> 54];
}

static struct tcp_slot *tcp_slot_find(struct tcp_peer *p, uint64_t id)
{
    struct tcp_slot *s = *bucket(p, id);
    while (s && s->id != id)
        s = s->next;
    return s;
}

static struct tcp_slot *slot_add(struct tcp_peer *p, uint64_t id, void *data, size_t bytes)
{
    struct tcp_slot *s = malloc(sizeof *s), **at = bucket(p, id);
    if (!s)
        return NULL;
    *s = (struct tcp_slot){.next = *at, .id = id, .data = data, .bytes = bytes};
    return *at = s;
}

static void slot_remove(struct tcp_peer *p, struct tcp_slot *slot)
{
    struct tcp_slot **at = bucket(p, slot->id);
    while (*at != slot)
        at = &(*at)->next;
    *at = slot->next;
    if (slot->stash)
        free(slot->data);
    free(slot);
}

static struct tcp_slot *tcp_slot_stash(struct tcp_peer *p, uint64_t id, size_t bytes)
{
    uint8_t *data = malloc(bytes ? bytes : 1);
    struct tcp_slot *s = data ? slot_add(p, id, data, bytes) : NULL;
    if (s)
        s->stash = true;
    else
        free(data);
    return s;
}

static void tcp_slot_filled(struct tcp_peer *p, struct tcp_slot *slot)
{
    slot->taken = NULL;
    slot->whole = true;
    if (slot->stash && !slot->wanted)
        return;
    if (slot->stash)
        memcpy(slot->wanted, slot->data, slot->bytes);
    tcp_tell(p->link, LINK_RECEIVED, p->rank, slot->id);
    p->posted--;
    slot_remove(p, slot);
}

int tcp_peer_post(struct tcp_peer *p, uint64_t id, void *data, size_t bytes)
{
    struct tcp_slot *s = tcp_slot_find(p, id);
    if (s && (!s->stash || s->wanted))
        return tcp_fail(p->link, "block %llu of rank %d is posted twice", (unsigned long long)id,
                        p->rank);
    if (s && s->bytes != bytes)
        return tcp_fail(p->link, "rank %d (%s) sent block %llu with %zu bytes; expected %zu",
                        p->rank, p->contact.host, (unsigned long long)id, s->bytes, bytes);
    p->posted++;
    p->posted_B += bytes;
    if (s) {
        s->wanted = data;
        if (s->whole)
            tcp_slot_filled(p, s);
    } else if (!slot_add(p, id, data, bytes)) {
        return tcp_fail(p->link, "no memory for a block from rank %d", p->rank);
    }
    p->asks = p->link->asked = true;
    return 0;
}

/* A block that came in part comes again: its place is as it was before. */
static void tcp_slot_release(struct tcp_stream *s)
{
    struct tcp_slot *slot = s->slot;
    s->slot = NULL;
    if (!slot)
        return;
    slot->taken = NULL;
    if (!slot->stash)
        return;
    void *wanted = slot->wanted;
    uint64_t id = slot->id;
    size_t bytes = slot->bytes;
    slot_remove(s->peer, slot);
    if (wanted && !slot_add(s->peer, id, wanted, bytes))
        tcp_fail(s->peer->link, "no memory for a block from rank %d", s->peer->rank);
}

/* ==== what a peer may send ==== */

/* A peer may send this many bytes before a receive is posted: each block that arrives has a place. */

static uint64_t own_B(const struct tcp_link *l)
{
    return TCP_AHEAD_OWN_B / (unsigned)(l->host.ranks - 1);
}

/* Total bytes that the peer may send: all that was ever posted for it, its own part of the room, and of the
 * shared one as much as the others who are awaited: what they were granted is not taken back. */
static uint64_t tcp_grant_now(const struct tcp_peer *p)
{
    const struct tcp_link *l = p->link;
    uint64_t own = own_B(l), lent = 0;
    unsigned awaited = 1;
    for (int r = 0; r < l->host.ranks; r++) {
        const struct tcp_peer *q = &l->peers[r];
        if (q == p || !q->streams)
            continue;
        awaited += q->posted > 0;
        lent += q->granted_B > q->posted_B + own ? q->granted_B - q->posted_B - own : 0;
    }
    uint64_t left = TCP_AHEAD_SHARED_B - (lent < TCP_AHEAD_SHARED_B ? lent : TCP_AHEAD_SHARED_B);
    uint64_t share = p->posted > 0 ? TCP_AHEAD_SHARED_B / awaited : 0;
    uint64_t grants = p->posted_B + own + (share < left ? share : left);
    return grants > p->granted_B ? grants : p->granted_B;
}

/* Most frames tell it in passing. One of its own before the peer can have used up half of what is
 * new, and when what it was told last is nearly used up: it may have nothing to send that we would
 * answer. */
void tcp_grants_tell(struct tcp_link *l)
{
    uint64_t half = own_B(l) / 2;
    l->asked = false;
    for (int r = 0; r < l->host.ranks; r++) {
        struct tcp_peer *p = &l->peers[r];
        if (!p->asks)
            continue;
        p->asks = false;
        if (tcp_grant_now(p) >= p->granted_B + half || p->came_B + half > p->granted_B)
            tcp_out_say(p);
    }
}

/* ==== blocks on their way ==== */

static void tcp_outs_init(struct tcp_outs *o)
{
    o->head = NULL, o->tail = &o->head;
}

static void tcp_outs_add(struct tcp_outs *o, struct tcp_out *b)
{
    b->next = NULL;
    *o->tail = b, o->tail = &b->next;
}

static struct tcp_out *outs_take(struct tcp_outs *o)
{
    struct tcp_out *b = o->head;
    if (b && !(o->head = b->next))
        o->tail = &o->head;
    return b;
}

static void out_free(struct tcp_link *l, struct tcp_out *b)
{
    if (b->kept)
        l->kept_B -= b->bytes;
    free(b->kept);
    free(b);
}

void tcp_peer_init(struct tcp_peer *p, struct tcp_link *l, int rank)
{
    p->link = l, p->rank = rank;
    p->streams = l->streams_end;
    p->streams_end = l->streams_end = p->streams + l->options.streams;
    tcp_outs_init(&p->queue);
    p->may_send_B = p->granted_B = own_B(l); /* as much at the other end, untold */
    tcp_pace_init(&p->pace);
    for (struct tcp_stream *s = p->streams; s < p->streams_end; s++) {
        *s = (struct tcp_stream){.watched = TCP_STREAM,
                                 .peer = p,
                                 .index = (int)(s - p->streams),
                                 .fd = -1,
                                 .dial.fd = -1};
        tcp_outs_init(&s->inflight);
    }
}

static void outs_free(struct tcp_link *l, struct tcp_outs *o)
{
    for (struct tcp_out *b; (b = outs_take(o));)
        out_free(l, b);
}

void tcp_peer_free(struct tcp_peer *p)
{
    for (struct tcp_stream *s = p->streams; s < p->streams_end; s++) {
        if (s->fd >= 0)
            close(s->fd);
        if (s->out)
            out_free(p->link, s->out);
        outs_free(p->link, &s->inflight);
    }
    outs_free(p->link, &p->queue);
    for (size_t i = 0; i < TCP_SLOTS; i++)
        while (p->slots[i])
            slot_remove(p, p->slots[i]);
}

int tcp_peer_send(struct tcp_peer *p, uint64_t id, const void *data, size_t bytes)
{
    if (bytes > TCP_FRAME_BYTES_MAX)
        return tcp_fail(p->link, "a block of %zu bytes for rank %d: allowed are up to %u", bytes,
                        p->rank, TCP_FRAME_BYTES_MAX);
    struct tcp_out *b = malloc(sizeof *b);
    if (!b)
        return tcp_fail(p->link, "no memory for a block to rank %d", p->rank);
    *b = (struct tcp_out){.id = id, .data = data, .bytes = bytes, .seq = p->next_seq++};
    if (p->unacked++ == 0)
        p->link->waited += !p->local;
    tcp_outs_add(&p->queue, b);
    if (p->link->rests)
        p->link->begins = true;
    else
        tcp_peer_pump(p);
    return 0;
}

/* The oldest block on its way, below which the peer may forget. */
static uint64_t oldest(const struct tcp_peer *p)
{
    uint64_t low = p->queue.head ? p->queue.head->seq : p->next_seq;
    for (const struct tcp_stream *s = p->streams; s < p->streams_end; s++) {
        if (s->out && s->out->seq < low)
            low = s->out->seq;
        for (const struct tcp_out *b = s->inflight.head; b; b = b->next)
            if (b->seq < low)
                low = b->seq;
    }
    return low;
}

/* A copy, where it fits, lets the caller have its buffer back before the peer's word that it came:
 * a round trip earlier. */
static void keep_copy(struct tcp_link *l, struct tcp_out *b)
{
    if (b->kept || b->told || b->bytes > TCP_KEPT_BLOCK_B ||
        l->kept_B + b->bytes > TCP_KEPT_MAX_B || !(b->kept = malloc(b->bytes ? b->bytes : 1)))
        return;
    memcpy(b->kept, b->data, b->bytes);
    b->data = b->kept;
    l->kept_B += b->bytes;
}

/* The next block for a free stream, or NULL. */
static struct tcp_out *tcp_peer_take(struct tcp_peer *p)
{
    struct tcp_out *b = p->queue.head;
    if (!b || (!b->paid && p->sent_B >= p->may_send_B))
        return NULL;
    if (b->seq - p->oldest >= TCP_SEQ_WINDOW / 2 &&
        b->seq - (p->oldest = oldest(p)) >= TCP_SEQ_WINDOW / 2)
        return NULL;
    p->sent_B += b->paid ? 0 : b->bytes;
    b->paid = true;
    keep_copy(p->link, b);
    return outs_take(&p->queue);
}

/* Every stream begins with a burst that no pace divides: those of all peers together are to be
 * about half of what the way holds. */
static int to_use(const struct tcp_peer *p)
{
    const struct tcp_link *l = p->link;
    int most = (int)l->most, peers = l->waited > 0 ? l->waited : 1,
        each = (most + peers - 1) / peers;
    return most == 0 || each > l->options.streams ? l->options.streams : each;
}

/* Always the same ones, whose windows are open; any, while one of them is down. */
static int in_use(const struct tcp_peer *p)
{
    int all = p->link->options.streams;
    return p->up < all ? all : to_use(p);
}

/* Their number is known now, and the rate can be split. Each rank begins with another peer: the
 * blocks of all would wait for each other at that one's end. */
void tcp_peers_begin(struct tcp_link *l)
{
    unsigned streams = 0; /* that will have what waits in the queues */
    tcp_meter_choose(l);
    for (int r = 0; r < l->host.ranks; r++) {
        const struct tcp_peer *p = &l->peers[r];
        int most = p->streams && !p->local ? to_use(p) : 0;
        for (const struct tcp_out *b = p->queue.head; b && most-- > 0; b = b->next)
            streams++;
    }
    tcp_meter_begin(l, streams);
    l->rests = l->begins = false;
    l->metered = 0;
    for (int k = 1; k < l->host.ranks; k++) {
        struct tcp_peer *p = &l->peers[(l->host.rank + k) % l->host.ranks];
        if (p->streams)
            tcp_peer_pump(p);
    }
}

/* Gives waiting blocks to free streams. A block for each, then another: the first alone would have to open
 * its window for all of them. */
static void tcp_peer_pump(struct tcp_peer *p)
{
    unsigned n = (unsigned)in_use(p), first = p->turn++;
    for (bool more = true; more;) {
        more = false;
        for (unsigned i = 0; i < n && p->queue.head; i++) {
            struct tcp_stream *s = &p->streams[(first + i) % n];
            if (!s->sending && !s->waits_room)
                more |= tcp_out_frame(s);
        }
    }
}

static void tcp_peer_acked(struct tcp_stream *s, uint64_t acked)
{
    struct tcp_link *l = s->peer->link;
    for (; s->acked < acked; s->acked++) {
        struct tcp_out *b = outs_take(&s->inflight);
        if (!b) {
            tcp_fail(l, "rank %d (%s) acknowledges blocks that were never sent", s->peer->rank,
                     s->peer->contact.host);
            return;
        }
        if (!b->told)
            tcp_tell(l, LINK_SENT, s->peer->rank, b->id);
        if (--s->peer->unacked == 0)
            l->waited -= !s->peer->local;
        out_free(l, b);
    }
}

/* ==== the sending side ==== */

static void wait_room(struct tcp_stream *s, bool waits)
{
    if (s->waits_room == waits)
        return;
    s->waits_room = waits;
    tcp_watch(s->peer->link, EPOLL_CTL_MOD, s->fd, EPOLLIN | (waits ? EPOLLOUT : 0), s);
}

static void start_frame(struct tcp_stream *s, enum tcp_frame_kind kind, const void *payload,
                        size_t bytes)
{
    struct tcp_peer *p = s->peer;
    p->granted_B = tcp_grant_now(p);
    s->head = (struct tcp_frame){.magic = TCP_FRAME_MAGIC,
                                 .version = TCP_VERSION,
                                 .kind = (uint16_t)kind,
                                 .bytes = bytes,
                                 .acked = s->got,
                                 .granted = p->granted_B};
    if (kind == TCP_BLOCK)
        s->head.id = s->out->id, s->head.seq = s->out->seq;
    s->payload = payload;
    s->sent = 0;
    s->sending = true;
    s->ack_due = false;
}

static bool kernel_has_enough(const struct tcp_stream *s)
{
    int unsent = 0;
    return ioctl(s->fd, SIOCOUTQNSD, &unsent) == 0 && unsent >= TCP_UNSENT_LOW_B;
}

/* What comes next on a stream that is between frames; false: nothing, or no room for it. */
static bool next_frame(struct tcp_stream *s)
{
    struct tcp_peer *p = s->peer;
    struct tcp_link *l = p->link;
    bool probes = p->probing && (!l->use || (s->index >= l->first && s->index < l->first + l->use));
    bool full = (p->queue.head || probes) && kernel_has_enough(s);
    wait_room(s, full);
    if (full)
        return false;
    if (s->index < in_use(p) && (s->out = tcp_peer_take(p)))
        start_frame(s, TCP_BLOCK, s->out->data, s->out->bytes);
    else if (probes && !l->probe_ends)
        start_frame(s, TCP_PROBE, l->scratch, sizeof l->scratch);
    else if (probes && s->index == l->first) {
        p->probing = false;
        start_frame(s, TCP_PROBED, NULL, 0);
    } else if (s->ack_due)
        start_frame(s, TCP_ACK, NULL, 0);
    return s->sending;
}

static ssize_t write_some(struct tcp_stream *s)
{
    size_t head = sizeof s->head, of_head = s->sent < head ? head - s->sent : 0;
    size_t at = s->sent > head ? s->sent - head : 0;
    struct iovec v[2] = {
        {.iov_base = (uint8_t *)&s->head + (head - of_head), .iov_len = of_head},
        {.iov_base = (uint8_t *)(uintptr_t)s->payload + at, .iov_len = s->head.bytes - at},
    };
    struct msghdr m = {.msg_iov = of_head ? v : v + 1, .msg_iovlen = of_head ? 2 : 1};
    return sendmsg(s->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void frame_sent(struct tcp_stream *s)
{
    struct tcp_out *b = s->out;
    s->sending = false;
    s->out = NULL;
    if (!b)
        return;
    tcp_outs_add(&s->inflight, b);
    if (b->kept && !b->told) {
        b->told = true;
        tcp_tell(s->peer->link, LINK_SENT, s->peer->rank, b->id);
    }
}

/* Sends a frame, or its rest. False: there is none, or no room. */
static bool tcp_out_frame(struct tcp_stream *s)
{
    if (s->fd < 0 || !(s->sending || next_frame(s)))
        return false;
    while (s->sending) {
        ssize_t n = write_some(s);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            wait_room(s, true);
            return false;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            tcp_stream_lost(s, strerror(errno));
            return false;
        }
        s->sent += (size_t)n;
        s->peer->link->stats.sent_B += (uint64_t)n;
        if (s->sent == sizeof s->head + s->head.bytes)
            frame_sent(s);
    }
    return true;
}

void tcp_out_push(struct tcp_stream *s)
{
    while (tcp_out_frame(s))
        ;
}

/* Sends a frame with pending acknowledgements and grants: on one stream that is between frames, or on the
 * first of those that are not, behind its block. */
static void tcp_out_say(struct tcp_peer *p)
{
    struct tcp_stream *by = NULL;
    for (struct tcp_stream *s = p->streams; s < p->streams_end; s++)
        if (s->fd >= 0 && (!by || (by->sending && !s->sending)))
            by = s;
    if (!by)
        return;
    by->ack_due = true;
    tcp_out_push(by);
}

/* On one stream that is between frames; where there is none the peer learns it from the reset. */
void tcp_out_bye(struct tcp_peer *p, const char *text)
{
    for (struct tcp_stream *s = p->streams; s < p->streams_end; s++) {
        if (s->fd < 0 || s->sending)
            continue;
        start_frame(s, TCP_BYE, text, strnlen(text, TCP_BYE_MAX));
        if (write_some(s) == (ssize_t)(sizeof s->head + s->head.bytes))
            return;
    }
}

/* ==== the receiving side ==== */

#define TURN_B (1u << 20) /* of one stream, before the others have their turn */

/* A block that comes again while another stream is still taking it: that stream is dead, its other
 * end knows already. */
static void overtake(struct tcp_peer *p, const struct tcp_stream *by)
{
    for (struct tcp_stream *s = p->streams; s < p->streams_end; s++)
        if (s != by && s->fd >= 0 && s->body && s->frame.kind == TCP_BLOCK && s->slot &&
            s->frame.seq == by->frame.seq)
            tcp_stream_lost(s, "its block came over another stream");
}

/* Where the payload of a block goes. -1: the stream or the link is lost. */
static int place_block(struct tcp_stream *s)
{
    struct tcp_peer *p = s->peer;
    const struct tcp_frame *f = &s->frame;
    if (tcp_peer_came(p, f->seq)) { /* again, for want of our word: thrown away */
        s->sink = NULL;
        return 0;
    }
    if (f->seq - p->low >= TCP_SEQ_WINDOW)
        return tcp_stream_lost(s, "a block came out of order");
    overtake(p, s);
    if (s->fd < 0) /* the requeued blocks went over this connection, which has failed too */
        return -1;
    struct tcp_slot *slot = tcp_slot_find(p, f->id);
    if (slot && (slot->taken || slot->whole))
        return tcp_fail(p->link, "rank %d (%s) uses block %llu twice", p->rank, p->contact.host,
                        (unsigned long long)f->id);
    if (!slot)
        slot = tcp_slot_stash(p, f->id, f->bytes);
    if (!slot)
        return tcp_fail(p->link, "no memory for a block of %llu bytes from rank %d",
                        (unsigned long long)f->bytes, p->rank);
    if (slot->bytes != f->bytes)
        return tcp_fail(p->link, "rank %d (%s) sent block %llu with %llu bytes; expected %zu",
                        p->rank, p->contact.host, (unsigned long long)f->id,
                        (unsigned long long)f->bytes, slot->bytes);
    slot->taken = s;
    s->slot = slot;
    s->sink = slot->data;
    return 0;
}

static bool sane(const struct tcp_frame *f)
{
    if (f->magic != TCP_FRAME_MAGIC || f->version != TCP_VERSION)
        return false;
    switch (f->kind) {
    case TCP_BLOCK:
    case TCP_PROBE:
        return f->bytes <= TCP_FRAME_BYTES_MAX;
    case TCP_BYE:
        return f->bytes <= TCP_BYE_MAX;
    default:
        return f->bytes == 0;
    }
}

/* A frame's head is whole. -1: no payload can be taken now. */
static int begin(struct tcp_stream *s)
{
    struct tcp_peer *p = s->peer;
    if (!sane(&s->frame))
        return tcp_stream_lost(s, "it received data that is not a frame");
    tcp_peer_acked(s, s->frame.acked);
    if (s->frame.granted > p->may_send_B) { /* frames of several streams overtake each other */
        p->may_send_B = s->frame.granted;
        tcp_peer_pump(p);
    }
    if (s->fd < 0)
        return -1;
    s->sink = NULL;
    if (s->frame.kind == TCP_BLOCK && place_block(s))
        return -1;
    if (s->frame.kind == TCP_BYE) {
        memset(p->bye, 0, sizeof p->bye);
        s->sink = (uint8_t *)p->bye;
    }
    s->at = 0;
    s->body = true;
    return 0;
}

static void block_whole(struct tcp_stream *s)
{
    struct tcp_peer *p = s->peer;
    struct tcp_slot *slot = s->slot;
    s->got++;
    s->ack_due = true;
    s->slot = NULL;
    if (slot) {
        p->came_B += slot->bytes;
        tcp_peer_mark(p, s->frame.seq);
        tcp_slot_filled(p, slot);
    }
}

/* The payload is there; the next frame may have come with it. */
static void finish(struct tcp_stream *s, size_t ahead)
{
    struct tcp_peer *p = s->peer;
    s->body = false;
    if (s->frame.kind == TCP_BLOCK)
        block_whole(s);
    if (s->frame.kind == TCP_PROBED)
        p->probed = true;
    if (s->frame.kind == TCP_BYE)
        p->closed = true;
    s->have = ahead;
    memcpy(&s->frame, &s->ahead, ahead);
}

static ssize_t read_head(struct tcp_stream *s)
{
    uint8_t *at = (uint8_t *)&s->frame + s->have;
    size_t left = sizeof s->frame - s->have;
    ssize_t n = recv(s->fd, at, left, MSG_DONTWAIT);
    if (n > 0)
        s->have += (size_t)n;
    return n;
}

/* With the next frame's head, where there is room to take it along. */
static ssize_t read_body(struct tcp_stream *s, size_t *ahead)
{
    struct tcp_link *l = s->peer->link;
    size_t left = s->frame.bytes - s->at;
    struct iovec v[2] = {
        {.iov_base = s->sink ? s->sink + s->at : l->scratch,
         .iov_len = s->sink || left < sizeof l->scratch ? left : sizeof l->scratch},
        {.iov_base = &s->ahead, .iov_len = sizeof s->ahead},
    };
    struct msghdr m = {.msg_iov = v, .msg_iovlen = v[0].iov_len == left ? 2 : 1};
    ssize_t n = recvmsg(s->fd, &m, MSG_DONTWAIT);
    if (n <= 0)
        return n;
    size_t mine = (size_t)n < left ? (size_t)n : left;
    s->at += mine;
    *ahead = (size_t)n - mine;
    return n;
}

static void lost(struct tcp_stream *s, ssize_t n)
{
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    tcp_stream_lost(s, n == 0 ? "closed by the other end" : strerror(errno));
}

void tcp_in_pull(struct tcp_stream *s)
{
    struct tcp_link *l = s->peer->link;
    for (size_t taken = 0; s->fd >= 0 && !l->failed;) {
        size_t ahead = 0;
        if (s->have == sizeof s->frame && !s->body && begin(s))
            break;
        if (s->body && s->at == s->frame.bytes) { /* no payload: nothing more will come for it */
            finish(s, 0);
            continue;
        }
        if (taken >= TURN_B)
            break;
        ssize_t n = s->body ? read_body(s, &ahead) : read_head(s);
        if (n <= 0) {
            lost(s, n);
            break;
        }
        taken += (size_t)n;
        l->stats.received_B += (uint64_t)n;
        if (s->body && s->at == s->frame.bytes)
            finish(s, ahead);
    }
    if (s->fd >= 0 && s->ack_due && !s->sending)
        tcp_out_push(s);
}

/* ==== a stream comes and goes ==== */

/* What was not acknowledged goes first, in its order, before what has not been sent yet. */
static void requeue(struct tcp_stream *s)
{
    struct tcp_peer *p = s->peer;
    struct tcp_outs again = s->inflight;
    if (!again.head)
        tcp_outs_init(&again);
    if (s->out)
        tcp_outs_add(&again, s->out);
    s->out = NULL;
    tcp_outs_init(&s->inflight);
    if (!again.head)
        return;
    *again.tail = p->queue.head;
    if (!p->queue.head)
        p->queue.tail = again.tail;
    p->queue.head = again.head;
}

static int tcp_stream_lost(struct tcp_stream *s, const char *reason)
{
    struct tcp_peer *p = s->peer;
    struct tcp_link *l = p->link;
    if (s->fd < 0)
        return -1;
    snprintf(p->last, sizeof p->last, "%s", reason);
    tcp_meter_gone(s);
    close(s->fd);
    s->fd = -1;
    tcp_slot_release(s);
    requeue(s);
    s->sending = s->waits_room = s->body = s->ack_due = false;
    s->have = s->at = 0;
    s->acked = s->got = 0;
    s->dial.again = l->now;
    p->up--;
    tcp_out_say(p); /* again, what may have been told over this one */
    tcp_peer_pump(p);
    return -1;
}

void tcp_stream_up(struct tcp_stream *s, int fd)
{
    struct tcp_peer *p = s->peer;
    struct tcp_link *l = p->link;
    tcp_stream_lost(s, "replaced by a new connection");
    if (tcp_watch(l, EPOLL_CTL_ADD, fd, EPOLLIN, s)) {
        close(fd);
        return;
    }
    s->fd = fd;
    p->up++;
    p->refusals = 0;
    l->stats.reopened += s->was_up;
    s->ack_due = s->was_up; /* what was told may be lost with the connection before */
    s->was_up = true;
    tcp_meter_fresh(s);
    tcp_out_push(s);
}
