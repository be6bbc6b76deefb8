/* SPDX-License-Identifier: Apache-2.0
 *
 * How far a peer may be ahead of what was posted for it, so that every block that comes has a
 * place.
 */
#include "wan_sync/transport/tcp_parts.h"

static uint64_t own_B(const struct tcp_link *l)
{
    return TCP_AHEAD_OWN_B / (unsigned)(l->host.ranks - 1);
}

void tcp_grant_init(struct tcp_peer *p)
{
    p->may_send_B = p->granted_B = own_B(p->link); /* as much at the other end, untold */
}

/* All that was ever posted for it, which came or is to come, its own part of the room, and of the
 * shared one as much as the others who are awaited: what they were granted is not taken back. */
uint64_t tcp_grant_now(const struct tcp_peer *p)
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

/* Frames of several streams overtake each other. */
void tcp_grant_heard(struct tcp_peer *p, uint64_t may_send_B)
{
    if (may_send_B <= p->may_send_B)
        return;
    p->may_send_B = may_send_B;
    tcp_peer_pump(p);
}
