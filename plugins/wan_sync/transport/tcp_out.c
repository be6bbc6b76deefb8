/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/tcp_parts.h"

#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

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
    struct tcp_link *l = p->link;
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
    p->spoke = l->now;
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
    if (tcp_stream_may(s) && (s->out = tcp_peer_take(p)))
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
        tcp_tell(s->peer->link, WAN_SENT, s->peer->rank, b->id);
    }
}

bool tcp_out_frame(struct tcp_stream *s)
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

/* On one stream that is between frames, or on the first of those that are not, behind its block. */
void tcp_out_say(struct tcp_peer *p)
{
    struct tcp_stream *by = NULL;
    for (int i = 0; i < p->link->options.streams; i++) {
        struct tcp_stream *s = &p->streams[i];
        if (s->fd >= 0 && (!by || (by->sending && !s->sending)))
            by = s;
    }
    if (!by)
        return;
    by->ack_due = true;
    tcp_out_push(by);
}

/* On one stream that is between frames; where there is none the peer learns it from the reset. */
void tcp_out_bye(struct tcp_peer *p, const char *text)
{
    for (int i = 0; i < p->link->options.streams; i++) {
        struct tcp_stream *s = &p->streams[i];
        if (s->fd < 0 || s->sending)
            continue;
        start_frame(s, TCP_BYE, text, strnlen(text, TCP_BYE_MAX));
        if (write_some(s) == (ssize_t)(sizeof s->head + s->head.bytes))
            return;
    }
}
