/* SPDX-License-Identifier: Apache-2.0
 *
 * A link that outlives its ranks (options.survives): who is silent is dialled again for ever, and
 * the caller says when everything begins anew among those that are left.
 */
#include "wan_sync/transport/tcp_hello.h"

static struct tcp_link *link_of(const struct wan_link *base)
{
    return (struct tcp_link *)(uintptr_t)base;
}

static bool is_silent(const struct tcp_peer *p)
{
    return tcp_peer_waits(p) && p->link->now - p->heard > p->link->options.deadline_s;
}

void tcp_survive_check(struct tcp_peer *p)
{
    for (int i = 0; p->up > 0 && is_silent(p) && i < p->link->options.streams; i++)
        tcp_stream_lost(&p->streams[i], "no answer");
}

/* A connection that broke just now comes back. */
static bool is_reached(const struct tcp_peer *p)
{
    if (p->up > 0)
        return !is_silent(p);
    return p->streams && p->link->now - p->down_since < p->link->options.deadline_s;
}

uint64_t link_tcp_reaches(const struct wan_link *base)
{
    const struct tcp_link *l = link_of(base);
    uint64_t set = 0;
    for (int r = 0; r < l->host.ranks; r++)
        if (is_reached(&l->peers[r]))
            set |= UINT64_C(1) << r;
    return set;
}

size_t link_tcp_unacked(const struct wan_link *base, int peer)
{
    return link_of(base)->peers[peer].unacked;
}

/* What was learnt of the way to it stays. */
static void begin_anew(struct tcp_peer *p)
{
    struct tcp_link *l = p->link;
    struct tcp_peer known = {.contact = p->contact,
                             .public = p->public,
                             .address = p->address,
                             .local = p->local,
                             .narrow = p->narrow,
                             .pace = p->pace};
    int rank = p->rank;
    for (int i = 0; i < l->options.streams; i++)
        if (p->streams[i].fd >= 0)
            tcp_meter_gone(&p->streams[i]);
    tcp_peer_free(p);
    *p = known;
    if (tcp_peer_init(p, l, rank))
        tcp_fail(l, "no memory for the streams to rank %d", rank);
    p->pace = known.pace;
}

void link_tcp_restart(struct wan_link *base, uint64_t epoch)
{
    struct tcp_link *l = link_of(base);
    l->now = now_s();
    for (struct tcp_hello *h = l->hellos, *next; h; h = next) {
        next = h->next;
        if (h->stream)
            tcp_hello_drop(h, "begun anew");
    }
    l->events.n = 0;
    l->waited = 0;
    l->begins = l->asked = false;
    l->rests = true;
    l->epoch = (unsigned)(epoch % TCP_EPOCHS);
    for (int r = 0; r < l->host.ranks; r++)
        if (l->peers[r].streams)
            begin_anew(&l->peers[r]);
}
