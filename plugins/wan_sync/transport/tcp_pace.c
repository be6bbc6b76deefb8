/* SPDX-License-Identifier: Apache-2.0
 *
 * The rate of an uplink: the estimate, the readings of the streams that it is made from, and the losses
 * among them.
 */
#include "wan_sync/transport/tcp.h"

#include <errno.h>
#include <linux/tcp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ==== the estimate ==== */

#define WINDOW_MIN_S 0.05
#define WINDOW_MIN_B (512 << 10) /* less is a few bursts, not a rate */
#define WINDOW_STRETCH 8         /* times its length, at most, for want of bytes */
#define MEASURE_S 0.25
#define MEASURE_LEAST 0.7 /* of the start: less was a stall */
#define PROBE_WINDOW_S 0.1
#define PROBE_LEAST_S 0.025
#define START_WINDOW_MIN_S 0.02
#define READING_GAP_S 0.1 /* a longer silence between readings: nobody looked, start anew */
#define START_GAIN 2.5    /* of the best window: room for TCP to double */
#define GROWTH 1.25       /* of a window, for the start to go on */
#define DRAIN_GAIN 0.9
#define DRAIN_MAX_RTT 4.0
#define MEASURE_GAIN 1.1
#define PROBE_GAIN 1.25
#define PROBE_BOLDER 1.4
#define PROBE_GAIN_MAX 2.0
#define PROBE_EVERY_S 1.0 /* of sending */
#define PROBE_FIRST_S 0.5
#define MORE 1.03         /* times the estimate: a probe that found something */
#define DELIVERED 0.95    /* of what was sent: the link kept up */
#define QUEUE_MIN_S 0.004 /* less is jitter, not a queue */
#define LOW 0.9           /* of the highest estimate */
#define VERY_LOW 0.4
#define LOW_WINDOWS 4
#define QUEUE_DEEP_S 0.05
#define QUEUED_WINDOWS 3
#define QUEUED_STEP 0.99
#define RANK 3 /* of the recent windows, from the best */

void tcp_pace_init(struct tcp_pace *p)
{
    *p = (struct tcp_pace){.phase = PACE_START, .gain = PROBE_GAIN, .next_probe = PROBE_FIRST_S};
}

double tcp_pace_rate(const struct tcp_pace *p)
{
    if (p->phase == PACE_START)
        return START_GAIN * p->best;
    const double gains[] = {[PACE_MEASURE] = MEASURE_GAIN,
                            [PACE_DRAIN] = DRAIN_GAIN,
                            [PACE_CRUISE] = WAN_HEADROOM,
                            [PACE_PROBE] = p->gain};
    return p->rate * gains[p->phase];
}

static double queue_limit(const struct tcp_pace *p)
{
    return fmax(p->rtt_min / 4, QUEUE_MIN_S) + (p->rate > 0 ? p->burst_B / p->rate : 0);
}

static void enter(struct tcp_pace *p, enum tcp_pace_phase phase, double now)
{
    p->phase = phase;
    p->since = now;
    p->queued = p->flat = 0;
    p->w.last = 0;
}

static void drain(struct tcp_pace *p, double queue_s, double now)
{
    double longest = DRAIN_MAX_RTT * fmax(p->rtt_min, WINDOW_MIN_S);
    enter(p, PACE_DRAIN, now);
    p->until = now + fmin(fmax(queue_s, 0) / (1 - DRAIN_GAIN), longest);
}

static void remember(struct tcp_pace *p, double rate, int times)
{
    while (times-- > 0)
        p->recent[p->windows++ % PACE_WINDOWS] = rate;
}

/* The k-th best of the last n windows. */
static double kth_best(const struct tcp_pace *p, unsigned n, unsigned k)
{
    double best = 0, below = INFINITY;
    n = n < p->windows ? n : p->windows;
    for (unsigned found = 0; found < k && found < n;) {
        unsigned equal = 0;
        best = 0;
        for (unsigned i = 1; i <= n; i++) {
            double v = p->recent[(p->windows - i) % PACE_WINDOWS];
            if (v < below && v > best)
                best = v, equal = 0;
            equal += v < below && v >= best;
        }
        if (equal == 0)
            break;
        found += equal;
        below = best;
    }
    return best;
}

static void begin_with(struct tcp_pace *p, double rate)
{
    p->rate = rate;
    p->windows = 0;
    remember(p, rate, PACE_WINDOWS);
}

void tcp_pace_rest(struct tcp_pace *p)
{
    if (p->phase == PACE_START && p->windows > 0)
        begin_with(p, p->best);
    if (p->rate > 0)
        enter(p, PACE_CRUISE, p->since);
}

void tcp_pace_alone(struct tcp_pace *p, int sharers)
{
    begin_with(p, p->rate * sharers);
    p->peak = p->rate;
}

bool tcp_pace_known(const struct tcp_pace *p)
{
    return p->phase > PACE_MEASURE;
}

/* What a window came to. */
struct judged {
    double rate, queue_s, took;
    bool saturated, lost;
};

static void judge_start(struct tcp_pace *p, const struct judged *j, double now)
{
    bool grew = j->rate > GROWTH * p->best;
    remember(p, j->rate, 1);
    p->flat = grew || !j->saturated ? 0 : p->flat + 1;
    p->queued = j->queue_s > queue_limit(p) ? p->queued + 1 : 0;
    p->best = fmax(p->best, j->rate);
    if (p->flat < 3 && !(p->queued >= 1 && p->flat >= 1))
        return;
    double found = kth_best(p, 4, 2);
    if (found <= 0) /* what was sent was lost, and nothing is known */
        return;
    begin_with(p, found);
    enter(p, PACE_MEASURE, now);
}

static void judge_measure(struct tcp_pace *p, const struct judged *j, double now)
{
    if (j->rate > MORE * p->rate) /* it was flat too early */
        p->next_probe = 0;
    begin_with(p, fmax(j->rate, MEASURE_LEAST * p->rate));
    p->peak = p->rate;
    drain(p, j->queue_s, now);
}

/* Below what it was, and no queue that would explain it: the estimate may be the only limit. */
static bool lost_its_way(struct tcp_pace *p, const struct judged *j)
{
    p->peak = fmax(p->rate, p->peak);
    bool low = p->rate < LOW * p->peak && j->queue_s < queue_limit(p);
    p->low = low ? p->low + 1 : 0;
    return p->low >= LOW_WINDOWS;
}

/* A queue that stands and loses, or is deep: alone it may be a machine that is late. */
static bool overfull(const struct tcp_pace *p, const struct judged *j)
{
    double deep = fmax(p->rtt_min, QUEUE_DEEP_S);
    return j->queue_s > queue_limit(p) && (j->lost || j->queue_s > queue_limit(p) + deep);
}

static void judge_cruise(struct tcp_pace *p, const struct judged *j, double now)
{
    p->next_probe -= j->took;
    if (j->saturated) {
        bool kept_up = j->rate > DELIVERED * tcp_pace_rate(p);
        int times = (int)fmin(j->took / WINDOW_MIN_S, PACE_WINDOWS / 3.0);
        remember(p, kept_up ? p->rate : j->rate, times);
        p->rate = kth_best(p, PACE_WINDOWS, RANK);
        p->queued = overfull(p, j) ? p->queued + 1 : 0;
    }
    bool lost = lost_its_way(p, j);
    if (lost && p->rate < VERY_LOW * p->peak) { /* starts again */
        struct tcp_pace before = *p;
        tcp_pace_init(p);
        p->rtt_min = before.rtt_min;
        p->burst_B = before.burst_B;
    } else if (lost || p->next_probe <= 0) {
        p->usual = p->rtt_min + j->queue_s;
        enter(p, PACE_PROBE, now);
    } else if (p->queued >= QUEUED_WINDOWS) { /* a little more than the link gives, for long */
        for (int i = 0; i < PACE_WINDOWS; i++)
            p->recent[i] *= QUEUED_STEP;
        p->rate *= QUEUED_STEP;
        drain(p, j->queue_s, now);
    }
}

static void judge_probe(struct tcp_pace *p, const struct judged *j, double now)
{
    bool more = j->rate > MORE * p->rate;
    double excess_s = fmin((now - p->since) * (p->gain - 1), j->queue_s);
    p->low = 0;
    p->peak = more ? p->peak : p->rate;
    if (more)
        begin_with(p, fmin(j->rate, p->gain * p->rate));
    p->gain = more ? fmin(PROBE_BOLDER * p->gain, PROBE_GAIN_MAX) : PROBE_GAIN;
    p->next_probe = more ? 0 : PROBE_EVERY_S;
    if (more)
        enter(p, PACE_CRUISE, now);
    else
        drain(p, excess_s, now);
}

static void close_window(struct tcp_pace *p, const struct tcp_pace_seen *s)
{
    double n = p->w.readings, took = s->now - p->w.from;
    struct judged j = {
        .rate = (double)(s->acked - p->w.acked) / took,
        .queue_s = p->w.rtt_sum / n - p->rtt_min,
        .took = took,
        .lost = s->resent > p->w.resent,
        .saturated = p->w.busy >= 0.9 * n && p->w.held <= 0.2 * n,
    };
    p->w.last = 0;
    switch (p->phase) {
    case PACE_START:
        judge_start(p, &j, s->now);
        break;
    case PACE_MEASURE:
        judge_measure(p, &j, s->now);
        break;
    case PACE_CRUISE:
        judge_cruise(p, &j, s->now);
        break;
    case PACE_PROBE:
        judge_probe(p, &j, s->now);
        break;
    case PACE_DRAIN:
        break;
    }
}

static void open_window(struct tcp_pace *p, const struct tcp_pace_seen *s)
{
    p->w.from = s->now;
    p->w.acked = s->acked, p->w.resent = s->resent;
    p->w.rtt_sum = 0;
    p->w.readings = p->w.busy = p->w.held = 0;
}

static double window_s(const struct tcp_pace *p)
{
    const double shortest[] = {[PACE_START] = START_WINDOW_MIN_S,
                               [PACE_MEASURE] = MEASURE_S,
                               [PACE_DRAIN] = WINDOW_MIN_S,
                               [PACE_CRUISE] = WINDOW_MIN_S,
                               [PACE_PROBE] = PROBE_WINDOW_S};
    return fmax(p->rtt_min, shortest[p->phase]);
}

double tcp_pace_feed(struct tcp_pace *p, const struct tcp_pace_seen *s)
{
    if (s->rtt_min > 0 && (p->rtt_min <= 0 || s->rtt_min < p->rtt_min))
        p->rtt_min = s->rtt_min;
    p->burst_B = s->burst_B;
    if (p->phase == PACE_DRAIN && s->now >= p->until)
        enter(p, PACE_CRUISE, s->now);
    bool fresh = p->w.last <= 0 || s->now - p->w.last > READING_GAP_S;
    bool faster = p->phase == PACE_PROBE || p->phase == PACE_MEASURE;
    /* What is acknowledged in the first round trip was sent before. */
    if (p->phase == PACE_DRAIN || (fresh && faster && s->now - p->since < p->rtt_min))
        return tcp_pace_rate(p);
    if (fresh)
        open_window(p, s);
    p->w.last = s->now;
    p->w.readings++;
    p->w.rtt_sum += s->rtt > 0 ? s->rtt : p->rtt_min;
    p->w.busy += s->busy;
    p->w.held += s->held;
    double open_s = s->now - p->w.from;
    bool enough = s->acked - p->w.acked >= WINDOW_MIN_B || open_s >= WINDOW_STRETCH * window_s(p);
    /* A queue that a probe has made means that the link is full: what comes through is all of it.
     */
    bool full = p->phase == PACE_PROBE && s->rtt - p->usual > queue_limit(p);
    if ((open_s >= window_s(p) && enough) || (full && open_s >= PROBE_LEAST_S))
        close_window(p, s);
    return tcp_pace_rate(p);
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

static bool change_congestion(struct tcp_link *l)
{
    char why[256];
    if (!tcp_congestion_allowed(BETTER, why, sizeof why))
        return false;
    for (const struct tcp_stream *s = l->streams; s < l->streams_end; s++)
        if (s->fd >= 0)
            setsockopt(s->fd, IPPROTO_TCP, TCP_CONGESTION, BETTER, sizeof BETTER - 1);
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

/* After each reading of the streams. */
static void tcp_congestion_tick(struct tcp_link *l)
{
    struct tcp_losses *n = &l->losses;
    double acked_B = (double)(l->acked_B - n->acked_then);
    double resent_B = (double)(l->resent_B - n->resent_then);
    n->acked_then = l->acked_B, n->resent_then = l->resent_B;
    if (!tcp_pace_known(l->paced) || l->paced->phase == PACE_PROBE || n->limit)
        return;
    n->acked_B += acked_B;
    n->resent_B += resent_B;
    n->limit = losses_limit(l);
    if (n->limit)
        note(l, l->automatic && !change_congestion(l));
}

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
    double rate = tcp_pace_rate(l->paced);
    rate = rate > 0 ? rate / fmax(active, 1) : NO_LIMIT_BPS;
    rate = fmax(rate, 2 * l->mss_B / BURST_EVERY_S);
    for (struct tcp_stream *s = l->streams; s < l->streams_end; s++)
        if (!s->peer->local && s->fd >= 0)
            set_pace(s, rate);
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
static bool look(struct tcp_stream *s, struct tcp_pace_seen *seen)
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
    struct tcp_pace *now = l->waited > 0 ? &l->pace : l->paced;
    for (int r = 0; r < l->host.ranks && l->waited == 1; r++)
        if (l->peers[r].narrow && l->peers[r].unacked > 0)
            now = &l->peers[r].pace;
    if (now == l->paced)
        return;
    l->paced->w.last = now->w.last = 0; /* discards open windows */
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
    struct tcp_pace_seen seen = {.now = l->now};
    bool due = l->paces && l->now - l->metered >= TICK_S;
    for (struct tcp_stream *s = l->streams; s < l->streams_end; s++) {
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
        tcp_pace_feed(l->paced, &seen);
    tcp_congestion_tick(l);
    pace_all(l, active);
    l->rests = active == 0;
    l->most = streams_worth(l);
    l->stats.rate_Bps = l->pace.rate;
    return flows;
}
