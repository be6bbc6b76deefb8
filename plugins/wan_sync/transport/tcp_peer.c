/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/tcp_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tcp_outs_init(struct tcp_outs *o)
{
    o->head = NULL, o->tail = &o->head;
}

void tcp_outs_add(struct tcp_outs *o, struct tcp_out *b)
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

int tcp_peer_init(struct tcp_peer *p, struct tcp_link *l, int rank)
{
    p->link = l, p->rank = rank;
    p->streams = calloc((size_t)l->options.streams, sizeof *p->streams);
    if (!p->streams)
        return -1;
    tcp_outs_init(&p->queue);
    tcp_grant_init(p);
    pace_init(&p->pace);
    for (int i = 0; i < l->options.streams; i++) {
        p->streams[i] = (struct tcp_stream){
            .watched = TCP_STREAM, .peer = p, .index = i, .fd = -1, .dial.fd = -1};
        tcp_outs_init(&p->streams[i].inflight);
    }
    p->heard = p->spoke = p->down_since = l->now;
    return 0;
}

static void outs_free(struct tcp_link *l, struct tcp_outs *o)
{
    for (struct tcp_out *b; (b = outs_take(o));)
        out_free(l, b);
}

void tcp_peer_free(struct tcp_peer *p)
{
    for (int i = 0; p->streams && i < p->link->options.streams; i++) {
        struct tcp_stream *s = &p->streams[i];
        if (s->fd >= 0)
            close(s->fd);
        if (s->out)
            out_free(p->link, s->out);
        outs_free(p->link, &s->inflight);
    }
    outs_free(p->link, &p->queue);
    tcp_slots_free(p);
    free(p->streams);
}

bool tcp_peer_waits(const struct tcp_peer *p)
{
    return p->posted > 0 || p->unacked > 0;
}

/* What begins to wait for a peer gives it the whole deadline. */
void tcp_peer_begin_wait(struct tcp_peer *p)
{
    if (tcp_peer_waits(p))
        return;
    p->heard = now_s();
    if (p->up == 0)
        p->down_since = p->heard;
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
    tcp_peer_begin_wait(p);
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
    for (int i = 0; i < p->link->options.streams; i++) {
        const struct tcp_stream *s = &p->streams[i];
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

struct tcp_out *tcp_peer_take(struct tcp_peer *p)
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

bool tcp_stream_may(const struct tcp_stream *s)
{
    return s->index < in_use(s->peer);
}

/* Streams that will have what waits in the queue. */
static unsigned to_begin(const struct tcp_peer *p)
{
    int n = 0, most = to_use(p);
    for (const struct tcp_out *b = p->queue.head; b && n < most; b = b->next)
        n++;
    return (unsigned)n;
}

/* Their number is known now, and the rate can be split. Each rank begins with another peer: the
 * blocks of all would wait for each other at that one's end. */
void tcp_peers_begin(struct tcp_link *l)
{
    unsigned streams = 0;
    tcp_meter_choose(l);
    for (int r = 0; r < l->host.ranks; r++)
        if (l->peers[r].streams && !l->peers[r].local)
            streams += to_begin(&l->peers[r]);
    tcp_meter_begin(l, streams);
    l->rests = l->begins = false;
    l->metered = 0;
    for (int k = 1; k < l->host.ranks; k++) {
        struct tcp_peer *p = &l->peers[(l->host.rank + k) % l->host.ranks];
        if (p->streams)
            tcp_peer_pump(p);
    }
}

/* A block for each, then another: the first alone would have to open its window for all of them. */
void tcp_peer_pump(struct tcp_peer *p)
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

void tcp_peer_acked(struct tcp_stream *s, uint64_t acked)
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
            tcp_tell(l, WAN_SENT, s->peer->rank, b->id);
        if (--s->peer->unacked == 0)
            l->waited -= !s->peer->local;
        out_free(l, b);
    }
}
