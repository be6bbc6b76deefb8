/* SPDX-License-Identifier: Apache-2.0
 *
 * What the ways to the peers carry: measured, and put to use.
 */
#include "wan_sync/transport/tcp_parts.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ==== metering, and the pace of the streams ==== */

/* Between the kernel's TCP_INFO and the estimate: what all streams delivered goes in, and the rate
 * that comes out is split over the streams that have something to send. A neighbour that by itself
 * takes less than the uplink gives has an estimate of its own: what a ring finds of a slow one says
 * nothing of a direct exchange. */

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

/* ==== losses ==== */

/* Do losses limit the streams? A sender alone can tell, and alone changes its congestion control.
 *
 * What is sent again counts, but not during the start or a probe, which fill a queue on purpose. Below
 * the estimate the kernel's bursts and other ranks may fill it too: a sender cannot tell such losses
 * from those of the line. From their share follows what CUBIC and Reno give a stream
 * (Ha, Rhee and Xu 2008; Mathis 1997). If all streams together have no room for more than ROOM
 * times the rate that arrives, losses are the limit. Then `congestion = auto` changes to BBR, which
 * does not slow down for them; any other choice gets a warning with this advice. */

#define ROOM 3.0  /* streams that lose together send less than each alone */
#define LOSSES 10 /* fewer packets say nothing */
#define BETTER "bbr"

static double share_lost(const struct tcp_losses *n)
{
    return n->resent_B / fmax(n->acked_B + n->resent_B, 1);
}

static bool losses_limit(const struct tcp_link *l)
{
    const struct tcp_losses *n = &l->losses;
    double rtt_s = l->paced->rtt_min, p = share_lost(n);
    if (n->resent_B < LOSSES * l->mss_B || rtt_s <= 0)
        return false;
    double reno = 1.22 * l->mss_B / (rtt_s * sqrt(p));
    double cubic = 1.054 * l->mss_B * pow(rtt_s / p, 0.75) / rtt_s;
    return l->options.streams * fmax(l->waited, 1) * fmax(reno, cubic) < ROOM * l->paced->rate;
}

bool tcp_congestion_allowed(const char *name, char *why, size_t size)
{
    int fd = name[0] ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0)
        return true;
    bool ok = !setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name));
    if (!ok)
        snprintf(why, size,
                 "congestion = %s: %s; choose one of "
                 "/proc/sys/net/ipv4/tcp_allowed_congestion_control",
                 name, strerror(errno));
    close(fd);
    return ok;
}

static bool set_all(struct tcp_link *l, const char *name)
{
    socklen_t n = (socklen_t)strlen(name);
    char why[256];
    if (!tcp_congestion_allowed(name, why, sizeof why))
        return false;
    for (int r = 0; r < l->host.ranks; r++)
        for (int i = 0; l->peers[r].streams && i < l->options.streams; i++)
            if (l->peers[r].streams[i].fd >= 0)
                setsockopt(l->peers[r].streams[i].fd, IPPROTO_TCP, TCP_CONGESTION, name, n);
    l->options.congestion = BETTER;
    return true;
}

void tcp_congestion_name(const struct tcp_link *l, char *name, socklen_t n)
{
    memset(name, 0, n--);
    if (l->options.congestion[0])
        strncpy(name, l->options.congestion, n);
    else if (getsockopt(l->listener, IPPROTO_TCP, TCP_CONGESTION, name, &n))
        strcpy(name, "?");
}

static void note(const struct tcp_link *l, bool refused)
{
    const struct wl_host *h = &l->host;
    const struct tcp_losses *n = &l->losses;
    char now[32], text[320];
    if (!h->note)
        return;
    tcp_congestion_name(l, now, sizeof now);
    snprintf(text, sizeof text, "%s: %.2g%% of the packets from rank %d were sent again", now,
             100 * share_lost(n), h->rank);
    h->note(h->ctx, "tcp_congestion", text);
    if (!strcmp(now, BETTER))
        return;
    snprintf(text, sizeof text,
             "%.2g%% of the packets from rank %d were sent again, apart from its start and its "
             "probes, whether the line or a full queue dropped them; this limits %s: try "
             "congestion = " BETTER "%s",
             100 * share_lost(n), h->rank, now,
             refused ? ", once net.ipv4.tcp_allowed_congestion_control permits it" : " or auto");
    h->note(h->ctx, WL_WARNING, text);
}

void tcp_congestion_tick(struct tcp_link *l)
{
    struct tcp_losses *n = &l->losses;
    double acked_B = (double)(l->acked_B - n->acked_then);
    double resent_B = (double)(l->resent_B - n->resent_then);
    n->acked_then = l->acked_B, n->resent_then = l->resent_B;
    if (!pace_known(l->paced) || l->paced->phase == PACE_PROBE || n->limit)
        return;
    n->acked_B += acked_B;
    n->resent_B += resent_B;
    n->limit = losses_limit(l);
    if (n->limit)
        note(l, l->automatic && !set_all(l, BETTER));
}

/* ==== the first estimates ==== */

/* Estimates the rates to the other ranks when a link is opened. */

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

/* ==== one way filled on purpose ==== */

/* Fills one way with probes on some streams, and reads what came of it from the kernel. It counts
 * delivered segments: behind a lost one the acknowledged bytes stand still, and then jump. */

#define FLOW_END_S 10.0 /* for the last of it to arrive */

struct flow_count {
    double at, delivered, sent, again, sent_B, received_B, rtt_s, least_rtt_s, mtu_B, segment_B;
    int streams;
};

static bool takes_part(const struct tcp_link *l, const struct link_tcp_flow *f, int rank)
{
    return l->peers[rank].streams && (f->peer == LINK_TCP_ALL || f->peer == rank);
}

static void count_stream(struct flow_count *c, const struct tcp_stream *s)
{
    struct tcp_info info = {0};
    socklen_t n = sizeof info;
    if (getsockopt(s->fd, IPPROTO_TCP, TCP_INFO, &info, &n))
        return;
    c->streams++;
    c->delivered += info.tcpi_delivered;
    c->sent += info.tcpi_data_segs_out;
    c->again += info.tcpi_total_retrans;
    c->sent_B += (double)info.tcpi_bytes_sent;
    c->rtt_s += info.tcpi_rtt * 1e-6;
    c->least_rtt_s = fmax(c->least_rtt_s, info.tcpi_min_rtt * 1e-6);
    c->mtu_B = fmax(c->mtu_B, info.tcpi_pmtu);
    c->segment_B = fmax(c->segment_B, info.tcpi_snd_mss);
}

static struct flow_count flow_count(const struct tcp_link *l, const struct link_tcp_flow *f)
{
    struct flow_count c = {.at = now_s(), .received_B = (double)l->stats.received_B};
    for (int r = 0; r < l->host.ranks; r++)
        for (int i = 0; takes_part(l, f, r) && i < f->streams; i++)
            count_stream(&c, &l->peers[r].streams[f->first + i]);
    c.rtt_s /= fmax(c.streams, 1);
    return c;
}

static void take(struct link_tcp_path *out, const struct flow_count *a, const struct flow_count *b)
{
    double sent = b->sent - a->sent, segment_B = sent > 0 ? (b->sent_B - a->sent_B) / sent : 0;
    *out = (struct link_tcp_path){
        .rate_Bps = (b->delivered - a->delivered) * segment_B / (b->at - a->at),
        .received_Bps = (b->received_B - a->received_B) / (b->at - a->at),
        .loss = sent > 0 ? (b->again - a->again) / sent : 0,
        .rtt_s = b->rtt_s,
        .segment_B = b->segment_B,
        .mtu_B = b->mtu_B,
    };
}

static bool drive(struct tcp_link *l, double seconds)
{
    for (double end = now_s() + seconds; l->now < end;)
        if (tcp_turn(l, end - now_s()))
            return false;
    return true;
}

static bool set_flow_congestion(struct tcp_link *l, const struct link_tcp_flow *f)
{
    for (int r = 0; r < l->host.ranks; r++)
        for (int i = 0; takes_part(l, f, r) && i < f->streams; i++) {
            const struct tcp_stream *s = &l->peers[r].streams[f->first + i];
            if (s->fd < 0 || setsockopt(s->fd, IPPROTO_TCP, TCP_CONGESTION, f->congestion,
                                        (socklen_t)strlen(f->congestion))) {
                tcp_fail(l, "congestion = %s, stream %d with rank %d: %s", f->congestion, s->index,
                         r, s->fd < 0 ? "it is down" : strerror(errno));
                return false;
            }
        }
    return true;
}

static void probe_all(struct tcp_link *l, const struct link_tcp_flow *f, bool begins)
{
    l->probe_ends = !begins;
    for (int r = 0; r < l->host.ranks; r++)
        if (takes_part(l, f, r)) {
            if (begins)
                l->peers[r].probing = true;
            tcp_probe_push(&l->peers[r]);
        }
}

static bool send_flow(struct tcp_link *l, const struct link_tcp_flow *f, struct link_tcp_path *out)
{
    if (!set_flow_congestion(l, f))
        return false;
    probe_all(l, f, true);
    struct flow_count a = flow_count(l, f);
    if (!drive(l, f->warm_s + f->warm_rtts * a.least_rtt_s))
        return false;
    a = flow_count(l, f);
    if (!drive(l, f->measure_s))
        return false;
    struct flow_count b = flow_count(l, f);
    take(out, &a, &b);
    probe_all(l, f, false);
    return true;
}

/* Nothing of it is left in a queue of the kernel: the next flow begins on an idle way. */
static bool drained(const struct tcp_stream *s, int streams)
{
    int unsent = 0;
    for (int i = 0; i < streams; i++)
        if (ioctl(s[i].fd, SIOCOUTQ, &unsent) == 0 && unsent > 0)
            return false;
    return true;
}

/* A rank whose flow, to it or from it, has not ended; -1: none. */
static int unfinished(const struct tcp_link *l, const struct link_tcp_flow *f)
{
    for (int r = 0; r < l->host.ranks; r++) {
        const struct tcp_peer *p = &l->peers[r];
        if (takes_part(l, f, r) &&
            ((f->receive && !p->probed) ||
             (f->send && (tcp_probe_sends(p) || !drained(&p->streams[f->first], f->streams)))))
            return r;
    }
    return -1;
}

bool link_tcp_flow(struct wan_link *base, const struct link_tcp_flow *f, struct link_tcp_path *out)
{
    struct tcp_link *l = (struct tcp_link *)(void *)base;
    l->first = f->first, l->use = f->streams;
    l->now = now_s();
    bool good = !f->send || send_flow(l, f, out);
    double end = l->now + f->warm_s + f->measure_s + FLOW_END_S + l->options.deadline_s;
    for (int r; good && (r = unfinished(l, f)) >= 0;) {
        if (l->now > end)
            tcp_fail(l, "the flow with rank %d (%s) did not end", r, l->peers[r].contact.host);
        good = l->now <= end && !tcp_turn(l, 0.01);
    }
    for (int r = 0; r < l->host.ranks; r++)
        if (takes_part(l, f, r))
            l->peers[r].probed = false;
    l->first = l->use = 0;
    return good;
}
