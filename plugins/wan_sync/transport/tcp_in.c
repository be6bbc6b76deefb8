/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/tcp_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>

#define TURN_B (1u << 20) /* of one stream, before the others have their turn */

/* A block that comes again while another stream is still taking it: that stream is dead, its other
 * end knows already. */
static void overtake(struct tcp_peer *p, const struct tcp_stream *by)
{
    for (int i = 0; i < p->link->options.streams; i++) {
        struct tcp_stream *s = &p->streams[i];
        if (s != by && s->fd >= 0 && s->body && s->frame.kind == TCP_BLOCK && s->slot &&
            s->frame.seq == by->frame.seq)
            tcp_stream_lost(s, "its block came over another stream");
    }
}

/* Where the payload of a block goes; false: the stream is lost. */
static bool place_block(struct tcp_stream *s)
{
    struct tcp_peer *p = s->peer;
    const struct tcp_frame *f = &s->frame;
    if (tcp_peer_came(p, f->seq)) { /* again, for want of our word: thrown away */
        s->sink = NULL;
        return true;
    }
    if (f->seq - p->low >= TCP_SEQ_WINDOW) {
        tcp_stream_lost(s, "a block came out of order");
        return false;
    }
    overtake(p, s);
    if (s->fd < 0) /* what was requeued went out over this one, which is dead as well */
        return false;
    struct tcp_slot *slot = tcp_slot_find(p, f->id);
    if (slot && (slot->taken || slot->whole)) {
        tcp_fail(p->link, "rank %d (%s) uses block %llu twice", p->rank, p->contact.host,
                 (unsigned long long)f->id);
        return false;
    }
    if (!slot)
        slot = tcp_slot_stash(p, f->id, f->bytes);
    if (!slot) {
        tcp_fail(p->link, "no memory for a block of %llu bytes from rank %d",
                 (unsigned long long)f->bytes, p->rank);
        return false;
    }
    if (slot->bytes != f->bytes) {
        tcp_fail(p->link, "rank %d (%s) sent block %llu with %llu bytes; expected %zu", p->rank,
                 p->contact.host, (unsigned long long)f->id, (unsigned long long)f->bytes,
                 slot->bytes);
        return false;
    }
    slot->taken = s;
    s->slot = slot;
    s->sink = slot->data;
    return true;
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

/* A frame's head is whole; false: no payload can be taken now. */
static bool begin(struct tcp_stream *s)
{
    struct tcp_peer *p = s->peer;
    if (!sane(&s->frame)) {
        tcp_stream_lost(s, "it received data that is not a frame");
        return false;
    }
    tcp_peer_acked(s, s->frame.acked);
    tcp_grant_heard(s->peer, s->frame.granted);
    if (s->fd < 0)
        return false;
    s->sink = NULL;
    if (s->frame.kind == TCP_BLOCK && !place_block(s))
        return false;
    if (s->frame.kind == TCP_BYE) {
        memset(p->bye, 0, sizeof p->bye);
        s->sink = (uint8_t *)p->bye;
    }
    s->at = 0;
    s->body = true;
    return true;
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
        if (s->have == sizeof s->frame && !s->body && !begin(s))
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
        s->peer->heard = l->now;
        if (s->body && s->at == s->frame.bytes)
            finish(s, ahead);
    }
    if (s->fd >= 0 && s->ack_due && !s->sending)
        tcp_out_push(s);
}
