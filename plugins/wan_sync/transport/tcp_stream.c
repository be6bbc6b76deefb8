/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream comes and goes: a connection, and the blocks it leaves behind.
 */
#include "wan_sync/transport/tcp_parts.h"

#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

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
    for (const struct tcp_out *b = again.head; b; b = b->next)
        p->link->seen.resent++;
    if (!again.head)
        return;
    *again.tail = p->queue.head;
    if (!p->queue.head)
        p->queue.tail = again.tail;
    p->queue.head = again.head;
}

void tcp_stream_lost(struct tcp_stream *s, const char *reason)
{
    struct tcp_peer *p = s->peer;
    struct tcp_link *l = p->link;
    if (s->fd < 0)
        return;
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
    if (--p->up == 0)
        p->down_since = l->now;
    tcp_out_say(p); /* again, what may have been told over this one */
    tcp_peer_pump(p);
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
    p->heard = l->now;
    l->seen.reopened += s->was_up;
    s->ack_due = s->was_up; /* what was told may be lost with the connection before */
    s->was_up = true;
    tcp_meter_fresh(s);
    tcp_out_push(s);
}
