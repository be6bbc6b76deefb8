/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the kernel's TCP_INFO and the estimate: what all streams delivered goes in, and the rate
 * that comes out is split over the streams that have something to send. A neighbour that by itself
 * takes less than the uplink gives has an estimate of its own: what a ring finds of a slow one says
 * nothing of a direct exchange.
 */
#include "wan_sync/transport/tcp_parts.h"

#include <linux/tcp.h>
#include <math.h>
#include <string.h>

#define TICK_S 0.005
#define BURST_EVERY_S 0.5 /* a stream paced to less sleeps for seconds, whatever comes */
#define NO_LIMIT_BPS 1e11 /* not ~0: the kernel then takes the stream for one that is not paced */

static bool read_info(const struct tcp_stream *s, struct tcp_info *info)
{
    socklen_t n = sizeof *info;
    memset(info, 0, sizeof *info);
    return getsockopt(s->fd, IPPROTO_TCP, TCP_INFO, info, &n) == 0;
}

static void set_pace(struct tcp_stream *s, double rate)
{
    uint64_t paced = (uint64_t)rate;
    if (fabs((double)paced - (double)s->paced) <= 0.02 * (double)s->paced)
        return;
    if (setsockopt(s->fd, SOL_SOCKET, SO_MAX_PACING_RATE, &paced, sizeof paced) == 0)
        s->paced = paced;
}

static void pace_all(struct tcp_link *l, unsigned active)
{
    double rate = pace_rate(l->paced);
    rate = rate > 0 ? rate / fmax(active, 1) : NO_LIMIT_BPS;
    rate = fmax(rate, 2 * l->mss_B / BURST_EVERY_S);
    for (int r = 0; r < l->host.ranks; r++)
        for (int i = 0; l->peers[r].streams && i < l->options.streams; i++)
            if (!l->peers[r].local && l->peers[r].streams[i].fd >= 0)
                set_pace(&l->peers[r].streams[i], rate);
}

/* Adds what a stream did since it was last looked at. */
static void count(struct tcp_stream *s, const struct tcp_info *info)
{
    struct tcp_link *l = s->peer->link;
    l->acked_B += info->tcpi_bytes_acked - s->seen_acked;
    l->resent_B += info->tcpi_bytes_retrans - s->seen_resent;
    s->seen_acked = info->tcpi_bytes_acked;
    s->seen_resent = info->tcpi_bytes_retrans;
}

void tcp_meter_fresh(struct tcp_stream *s)
{
    struct tcp_info info;
    s->seen_acked = s->seen_resent = s->seen_held = s->paced = 0;
    if (s->peer->link->paces && !s->peer->local)
        set_pace(s, NO_LIMIT_BPS);
    if (!read_info(s, &info))
        return;
    s->seen_acked = info.tcpi_bytes_acked;
    s->seen_resent = info.tcpi_bytes_retrans;
    s->seen_held = info.tcpi_rwnd_limited;
}

void tcp_meter_gone(struct tcp_stream *s)
{
    struct tcp_info info;
    if (!s->peer->local && read_info(s, &info))
        count(s, &info);
}

/* One stream's share of a reading; true: it has something to send. */
static bool look(struct tcp_stream *s, struct pace_seen *seen)
{
    struct tcp_info info;
    if (!read_info(s, &info))
        return false;
    count(s, &info);
    double rtt = info.tcpi_rtt * 1e-6, shortest = info.tcpi_min_rtt * 1e-6;
    if (info.tcpi_min_rtt > 0 && info.tcpi_min_rtt != UINT32_MAX &&
        (seen->rtt_min <= 0 || shortest < seen->rtt_min))
        seen->rtt_min = shortest;
    if (rtt > 0 && (seen->rtt <= 0 || rtt < seen->rtt))
        seen->rtt = rtt;
    if (info.tcpi_rwnd_limited > s->seen_held + (uint64_t)(TICK_S * 1e6 / 2))
        seen->held = true;
    s->seen_held = info.tcpi_rwnd_limited;
    if (!s->sending && info.tcpi_notsent_bytes == 0)
        return false;
    s->peer->link->mss_B = info.tcpi_snd_mss;
    seen->burst_B += 2.0 * info.tcpi_snd_mss; /* what a paced stream sends at once, at the least */
    return true;
}

static void put_in_force(struct tcp_link *l)
{
    struct pace *now = l->waited > 0 ? &l->pace : l->paced;
    for (int r = 0; r < l->host.ranks && l->waited == 1; r++)
        if (l->peers[r].narrow && l->peers[r].unacked > 0)
            now = &l->peers[r].pace;
    if (now == l->paced)
        return;
    pace_leave(l->paced);
    pace_leave(now);
    l->paced = now;
}

/* So many that what all send at once, two segments each, is half of what the way holds. */
static unsigned streams_worth(const struct tcp_link *l)
{
    double held_B = l->paced->rate * l->paced->rtt_min;
    if (held_B <= 0 || l->mss_B <= 0)
        return 0;
    return (unsigned)fmax(held_B / 2 / (2 * l->mss_B), 1);
}

void tcp_meter_choose(struct tcp_link *l)
{
    if (!l->paces)
        return;
    put_in_force(l);
    l->most = streams_worth(l);
}

/* Before they have anything: a pause between two packets is as long as the rate was when the first
 * of them left, whatever the rate is by then. */
void tcp_meter_begin(struct tcp_link *l, unsigned streams)
{
    if (l->paces)
        pace_all(l, streams);
}

bool tcp_meter_tick(struct tcp_link *l)
{
    bool flows = false;
    unsigned active = 0;
    struct pace_seen seen = {.now = l->now};
    bool due = l->paces && l->now - l->metered >= TICK_S;
    for (int r = 0; r < l->host.ranks; r++)
        for (int i = 0; l->peers[r].streams && i < l->options.streams; i++) {
            struct tcp_stream *s = &l->peers[r].streams[i];
            if (s->fd < 0 || (!s->sending && !s->waits_room && !s->inflight.head))
                continue;
            flows = true;
            if (due && !s->peer->local)
                active += look(s, &seen);
        }
    if (!due)
        return flows;
    put_in_force(l);
    seen.now = now_s(); /* of the readings, not of the turn */
    l->metered = l->now;
    seen.acked = l->acked_B, seen.resent = l->resent_B;
    seen.busy = active > 0;
    if (flows)
        pace_feed(l->paced, &seen);
    tcp_congestion_tick(l);
    pace_all(l, active);
    l->rests = active == 0;
    l->most = streams_worth(l);
    l->stats.rate_Bps = l->pace.rate;
    return flows;
}

extern const struct wan_link_ops tcp_link_ops;

void link_tcp_rates(const struct wan_link *base, double *rate_Bps)
{
    const struct tcp_link *l = (const struct tcp_link *)(const void *)base;
    for (int r = 0; base->ops == &tcp_link_ops && r < l->host.ranks; r++)
        rate_Bps[r] = r == l->host.rank ? 0 : l->peers[r].pace.rate;
}

double link_tcp_segment(const struct wan_link *base, bool *bbr)
{
    const struct tcp_link *l = (const struct tcp_link *)(const void *)base;
    char name[32] = "";
    bool tcp = base->ops == &tcp_link_ops;
    if (tcp)
        tcp_congestion_name(l, name, sizeof name);
    *bbr = !strcmp(name, "bbr");
    return tcp ? l->mss_B : 0;
}
