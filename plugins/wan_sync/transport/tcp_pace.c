/* SPDX-License-Identifier: Apache-2.0
 *
 * What the ways to the peers carry, as the kernel counts it (TCP_INFO): probes of the rates.
 */
#include "wan_sync/transport/tcp.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>

/* ==== readings ==== */

/* It counts delivered segments: behind a lost one the acknowledged bytes stand still, and then jump. */
struct reading {
    double at, delivered, sent, again, sent_B, received_B;
    double rtt_s, least_rtt_s, mtu_B, segment_B; /* rtt_s: the mean of the streams */
    int streams;
};

/* peer: TCP_ALL, or a rank. */
static struct reading read_streams(const struct tcp_link *l, int peer)
{
    struct reading r = {.at = now_s(), .received_B = (double)l->received_B};
    for (size_t i = 0; i < l->streams_n; i++) {
        const struct tcp_stream *s = &l->streams[i];
        struct tcp_info t = {0};
        socklen_t n = sizeof t;
        if ((peer != TCP_ALL && s->peer->rank != peer) ||
            getsockopt(s->fd, IPPROTO_TCP, TCP_INFO, &t, &n))
            continue;
        double least_s = t.tcpi_min_rtt == UINT32_MAX ? 0 : t.tcpi_min_rtt * 1e-6;
        r.streams++;
        r.delivered += t.tcpi_delivered;
        r.sent += t.tcpi_data_segs_out;
        r.again += t.tcpi_total_retrans;
        r.sent_B += (double)t.tcpi_bytes_sent;
        r.rtt_s += t.tcpi_rtt * 1e-6;
        r.least_rtt_s = r.least_rtt_s <= 0 || (least_s > 0 && least_s < r.least_rtt_s)
                            ? least_s
                            : r.least_rtt_s;
        r.mtu_B = fmax(r.mtu_B, t.tcpi_pmtu);
        r.segment_B = fmax(r.segment_B, t.tcpi_snd_mss);
    }
    r.rtt_s /= fmax(r.streams, 1);
    return r;
}

/* Payload per second that the peers have received between two readings. */
static double rate_between(const struct reading *a, const struct reading *b)
{
    double segment_B = b->sent > a->sent ? (b->sent_B - a->sent_B) / (b->sent - a->sent) : 0;
    return (b->delivered - a->delivered) * segment_B / (b->at - a->at);
}

/* ==== ways that are filled on purpose ==== */

#define END_S 10.0 /* for the last bytes to arrive */

static int run_link(struct tcp_link *l, double seconds)
{
    for (double end = now_s() + seconds; now_s() < end;)
        if (tcp_turn(l, end - now_s()))
            return -1;
    return 0;
}

static bool is_way_to(const struct tcp_link *l, int peer, int rank)
{
    return rank >= 0 && l->peers[rank].streams && (peer == TCP_ALL || peer == rank);
}

/* Sends probes to the peer, or a last one. */
static void set_filling(struct tcp_link *l, int peer, bool fills)
{
    l->probe_ends = !fills;
    l->use = l->options.streams;
    for (int r = 0; r < l->host.ranks; r++)
        if (is_way_to(l, peer, r)) {
            for (int i = 0; i < l->options.streams; i++)
                l->peers[r].streams[i].probing = true;
            tcp_pump(&l->peers[r]);
        }
}

/* All that was sent over a stream has arrived. */
static bool is_drained(const struct tcp_stream *s)
{
    int unsent = 0;
    return !s->probing && !s->sending && (ioctl(s->fd, SIOCOUTQ, &unsent) != 0 || unsent == 0);
}

/* Until all that was sent to `to` has arrived, and all from `from` has come: the next one begins on an idle
 * way. */
static int wait_for_end(struct tcp_link *l, int to, int from)
{
    double end = now_s() + END_S + l->options.deadline_s;
    for (size_t i = 0; i < l->streams_n; i++) {
        struct tcp_stream *s = &l->streams[i];
        int r = s->peer->rank;
        while ((is_way_to(l, from, r) && !s->probed) || (is_way_to(l, to, r) && !is_drained(s))) {
            if (now_s() > end)
                return tcp_fail(l, "a probe with rank %d (%s) did not end", r,
                                s->peer->contact.host);
            if (tcp_turn(l, 0.01))
                return -1;
        }
        s->probed = false;
    }
    return 0;
}

int tcp_flow(struct link *base, const struct tcp_flow *f, struct tcp_flowed *out)
{
    struct tcp_link *l = (struct tcp_link *)base;
    if (f->send) {
        set_filling(l, f->peer, true);
        struct reading a = read_streams(l, f->peer);
        if (run_link(l, f->warm_s + f->warm_rtts * a.least_rtt_s))
            return -1;
        struct reading b = a = read_streams(l, f->peer);
        /* While a lost packet is waited for, nothing comes through: that is no rate of 0. */
        while (b.sent <= a.sent || b.delivered <= a.delivered) {
            if (b.at - a.at > l->options.deadline_s)
                return tcp_fail(l, "nothing it sent came through in %.3g s", b.at - a.at);
            if (run_link(l, f->measure_s))
                return -1;
            b = read_streams(l, f->peer);
        }
        *out = (struct tcp_flowed){.rate_Bps = rate_between(&a, &b),
                                   .received_Bps = (b.received_B - a.received_B) / (b.at - a.at),
                                   .loss = (b.again - a.again) / (b.sent - a.sent),
                                   .rtt_s = b.least_rtt_s,
                                   .segment_B = b.segment_B,
                                   .mtu_B = b.mtu_B};
        set_filling(l, f->peer, false);
    }
    const int none = -2;
    return wait_for_end(l, f->send ? f->peer : none, f->receive ? f->peer : none);
}

/* ==== the probe of a rate ==== */

/* First it sends at most START_GAIN times the rate of the best window so far, so that TCP can double its
 * windows, until some windows do not grow; then faster than that, until no more arrives; then slightly
 * faster, while a queue stands, and what arrives is the rate. So few packets are lost, and the windows stay
 * open for what follows. Losses of the line can make the second step end early; then all that the third one
 * sends arrives, and it is repeated faster. */

#define WINDOW_S 0.02
#define WINDOW_B (512 << 10) /* less is a few bursts, not a rate */
#define WINDOW_STRETCH 8     /* times its length, at most, for want of bytes */
#define START_GAIN 2.5
#define GROWTH 1.25 /* of a window, for the start to go on */
#define FLAT 3
#define FILL_PART 0.1 /* of the time */
#define FILL_GAIN 1.25
#define MORE 1.05 /* times what arrived before: go on */
#define MEASURE_PART 0.6
#define MEASURE_GAIN 1.04
#define KEPT_UP 0.98      /* times the pace, or more: the pace was the limit, and not the way */
#define HALF 16           /* readings in half of a measurement */
#define QUEUE_MIN_S 0.004 /* less is jitter, not a queue */

/* Ranks of this host that probe at the same time, over the same uplink. */
static int ranks_on_uplink(const struct tcp_link *l, int distance)
{
    int n = 0, ranks = l->host.ranks;
    for (int r = 0; r < ranks; r++)
        n += (r == l->host.rank || l->peers[r].local) &&
             !((r + distance) % ranks == l->host.rank || l->peers[(r + distance) % ranks].local);
    return n > 1 ? n : 1;
}

/* Beside what the streams send at once. */
static bool has_queue(const struct reading *r, double rate)
{
    double bursts_s = rate > 0 ? r->streams * r->segment_B / rate : 0;
    return r->rtt_s - r->least_rtt_s > fmax(r->least_rtt_s / 4, QUEUE_MIN_S) + bursts_s;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What a measurement found: the rate that arrived, and whether a queue stood, which means that the way was
 * full. */
struct found {
    double rate;
    bool full;
};

/* Measures from a round trip on: what is acknowledged in the first one was sent before. Of many windows,
 * half of the time each, it takes the upper quartile: a machine that is late for a moment delays what arrives
 * in some of them. -1: broken. */
static int measure_way(struct tcp_link *l, int peer, double seconds, struct found *out)
{
    struct reading r[2 * HALF];
    double rates[HALF], rtt_s = read_streams(l, peer).least_rtt_s;
    if (run_link(l, rtt_s))
        return -1;
    out->full = false;
    for (int i = 0; i < 2 * HALF; i++) {
        if (i > 0 && run_link(l, fmax(seconds, 2 * rtt_s) / (2 * HALF - 1)))
            return -1;
        r[i] = read_streams(l, peer);
        if (i >= HALF)
            rates[i - HALF] = rate_between(&r[i - HALF], &r[i]);
        out->full = out->full || (i >= HALF && has_queue(&r[i], rates[i - HALF]));
    }
    qsort(rates, HALF, sizeof *rates, by_size);
    out->rate = rates[HALF * 3 / 4];
    return 0;
}

/* -1: broken. */
static int find_rate(struct tcp_link *l, int peer, double limit_s, struct found *out)
{
    double begin = now_s(), end = begin + (1 - MEASURE_PART) * limit_s, best = 0, rate = 0,
           came_B = 0;
    struct reading a = read_streams(l, peer), b = a;
    double shortest = fmax(a.least_rtt_s, WINDOW_S);
    for (int flat = 0; flat < FLAT && now_s() < end;) {
        a = read_streams(l, peer);
        do {
            if (run_link(l, shortest))
                return -1;
            b = read_streams(l, peer);
            rate = rate_between(&a, &b);
            came_B = rate * (b.at - a.at);
        } while (came_B < WINDOW_B && b.at - a.at < WINDOW_STRETCH * shortest);
        flat = rate > GROWTH * best ? 0 : has_queue(&b, rate) ? FLAT : flat + 1;
        best = fmax(best, rate);
        l->probe_Bps = START_GAIN * best;
    }
    for (bool more = best > 0; more;) {
        l->probe_Bps = FILL_GAIN * best;
        if (measure_way(l, peer, FILL_PART * limit_s, out))
            return -1;
        more = out->rate > MORE * best && now_s() < end;
        best = fmax(best, out->rate);
    }
    double pace = MEASURE_GAIN * best;
    for (bool paced = best > 0; paced;) {
        l->probe_Bps = pace;
        if (measure_way(l, peer, MEASURE_PART * limit_s, out))
            return -1;
        paced = out->rate > KEPT_UP * pace && now_s() < begin + limit_s;
        pace = FILL_GAIN * out->rate;
    }
    return 0;
}

int tcp_probe(struct link *base, int to, int from, double limit_s)
{
    struct tcp_link *l = (struct tcp_link *)base;
    int ranks = l->host.ranks;
    struct found found = {0};
    if (!l->paces || limit_s <= 0)
        return 0;
    l->mss_B = read_streams(l, TCP_ALL).segment_B;
    to = to >= 0 && l->peers[to].local ? -1 : to;
    from = from >= 0 && l->peers[from].local ? -1 : from;
    if (to >= 0) {
        set_filling(l, to, true);
        if (find_rate(l, to, limit_s, &found))
            return -1;
        l->probe_Bps = 0;
        set_filling(l, to, false);
    }
    if (wait_for_end(l, to >= 0 ? to : -2, from >= 0 ? from : -2))
        return -1;
    if (to >= 0) {
        l->peers[to].rate = found.rate * ranks_on_uplink(l, (to - l->host.rank + ranks) % ranks);
        l->peers[to].full = found.full;
    }
    for (int r = 0; r < ranks; r++) {
        struct reading now = read_streams(l, r);
        l->peers[r].rtt_s = now.least_rtt_s;
        l->rate = fmax(l->rate, l->peers[r].rate);
        l->full = l->full || l->peers[r].full;
    }
    l->rests = true;
    return 0;
}

double tcp_rate(const struct link *base, int rank)
{
    return ((const struct tcp_link *)base)->peers[rank].rate;
}
