/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills one way with probes on some streams, and reads what came of it from the kernel. It counts
 * delivered segments: behind a lost one the acknowledged bytes stand still, and then jump.
 */
#include "wan_sync/transport/tcp_parts.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>

#define FLOW_END_S 10.0 /* for the last of it to arrive */

struct count {
    double at, delivered, sent, again, sent_B, received_B, rtt_s, least_rtt_s, mtu_B, segment_B;
    int streams;
};

static bool takes_part(const struct tcp_link *l, const struct link_tcp_flow *f, int rank)
{
    return l->peers[rank].streams && (f->peer == LINK_TCP_ALL || f->peer == rank);
}

static void count_stream(struct count *c, const struct tcp_stream *s)
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

static struct count count(const struct tcp_link *l, const struct link_tcp_flow *f)
{
    struct count c = {.at = now_s(), .received_B = (double)l->stats.received_B};
    for (int r = 0; r < l->host.ranks; r++)
        for (int i = 0; takes_part(l, f, r) && i < f->streams; i++)
            count_stream(&c, &l->peers[r].streams[f->first + i]);
    c.rtt_s /= fmax(c.streams, 1);
    return c;
}

static void take(struct link_tcp_path *out, const struct count *a, const struct count *b)
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

static bool set_congestion(struct tcp_link *l, const struct link_tcp_flow *f)
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
    if (!set_congestion(l, f))
        return false;
    probe_all(l, f, true);
    struct count a = count(l, f);
    if (!drive(l, f->warm_s + f->warm_rtts * a.least_rtt_s))
        return false;
    a = count(l, f);
    if (!drive(l, f->measure_s))
        return false;
    struct count b = count(l, f);
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
