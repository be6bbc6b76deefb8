/* SPDX-License-Identifier: Apache-2.0
 *
 * Estimates the rates to the other ranks when a link is opened.
 */
#include "wan_sync/transport/tcp_parts.h"

#define PROBE_END_S 10.0 /* for the last bytes of a probe to arrive */
#define NARROW 0.7       /* of the uplink's rate */

/* The rank `by` places on, if the way to it is one to probe: between processes of one host there is
 * no link to fill. Else NULL. */
static struct tcp_peer *neighbour(struct tcp_link *l, int by)
{
    struct tcp_peer *p = &l->peers[(l->host.rank + l->host.ranks + by) % l->host.ranks];
    return p->streams && !p->local ? p : NULL;
}

static bool is_here(const struct tcp_link *l, int rank)
{
    return rank == l->host.rank || l->peers[rank].local;
}

/* Ranks of this host that probe at the same time, over the same uplink. */
static int sharers(const struct tcp_link *l, int by)
{
    int n = 0;
    for (int r = 0; r < l->host.ranks; r++)
        n += is_here(l, r) && !is_here(l, (r + by) % l->host.ranks);
    return n;
}

bool tcp_probe_sends(const struct tcp_peer *p)
{
    for (int i = 0; i < p->link->options.streams; i++)
        if (p->streams[i].sending)
            return true;
    return p->probing;
}

void tcp_probe_push(struct tcp_peer *p)
{
    for (int i = 0; i < p->link->options.streams; i++)
        if (!p->streams[i].sending)
            tcp_out_push(&p->streams[i]);
}

/* Until there is an estimate, and what was sent for it has come to its end. */
static int fill(struct tcp_link *l, struct tcp_peer *to)
{
    double end = now_s() + l->options.probe_s;
    l->paced = &to->pace;
    l->probe_ends = false;
    to->probing = true;
    tcp_probe_push(to);
    while (!pace_known(&to->pace) && l->now < end)
        if (tcp_turn(l, end - now_s()))
            return -1;
    l->probe_ends = true;
    tcp_probe_push(to);
    return 0;
}

int tcp_probe(struct tcp_link *l, int by)
{
    struct tcp_peer *to = neighbour(l, by), *from = neighbour(l, -by);
    if (to && fill(l, to))
        return -1;
    double end = now_s() + PROBE_END_S + l->options.deadline_s;
    while ((from && !from->probed) || (to && tcp_probe_sends(to))) {
        const struct tcp_peer *p = from && !from->probed ? from : to;
        if (l->now > end)
            return tcp_fail(l, "the probe of rank %d (%s) did not end", p->rank, p->contact.host);
        if (tcp_turn(l, 0.02))
            return -1;
    }
    if (from)
        from->probed = false;
    if (to) {
        pace_rest(&to->pace);
        pace_alone(&to->pace, sharers(l, by));
    }
    return 0;
}

void tcp_probes_compare(struct tcp_link *l)
{
    for (int r = 0; r < l->host.ranks; r++)
        if (l->peers[r].pace.rate > l->pace.rate)
            l->pace = l->peers[r].pace;
    for (int r = 0; r < l->host.ranks; r++) {
        double rate = l->peers[r].pace.rate;
        l->peers[r].narrow = rate > 0 && rate < NARROW * l->pace.rate;
    }
    l->paced = &l->pace;
    l->stats = (struct wan_link_stats){.rate_Bps = l->pace.rate};
}
