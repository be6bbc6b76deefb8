/* SPDX-License-Identifier: Apache-2.0 */
#include "common/wan_carrier.h"

#include <math.h>

#define REORDERING 0.25 /* of a round trip: RACK's patience with packets out of order */
#define TICKS_LEAST 2   /* of a timer: TCP_TIMEOUT_MIN */

/* Constants of plugins/wan_sync. A hop costs a wake-up of the relay's host and one of the receiver,
 * two copies and an addition: a tenth of a millisecond on an idle machine. */
#define PIECES 128.0 /* schedule.c: PIPELINE */
#define HOP_S 1e-4
#define FIRST_WINDOW 10.0 /* RFC 6928; BBR keeps its window during a pause */
#define FRAME_B 48.0      /* tcp_parts.h: of a block's head, and of the answer that it came */
#define TICK_S 4e-3       /* CONFIG_HZ=250, the kernels of Debian and Ubuntu */

struct wan_carrier wan_carrier_make(double block_B, double streams, double segment_B, bool bbr,
                                    double loss)
{
    struct wan_carrier c = {.least_B = WAN_LEAST_BLOCK_B,
                            .most_B = block_B,
                            .pieces = PIECES,
                            .hop_s = HOP_S,
                            .frame_B = FRAME_B};
    if (segment_B <= 0)
        return c;
    c.streams = streams;
    c.segment_B = segment_B;
    c.window = bbr ? 0 : FIRST_WINDOW;
    c.bbr = bbr;
    c.tick_s = TICK_S;
    c.loss = loss;
    return c;
}

double wan_block_B(const struct wan_carrier *c, double part_B)
{
    double fine = c->pieces > 0 ? part_B / c->pieces : 0;
    return fmin(part_B, fmin(fmax(fine, c->least_B), fmax(c->most_B, c->least_B)));
}

double wan_framed(const struct wan_carrier *c, double part_B)
{
    return c && c->segment_B > 0 && part_B > 0 ? 1 + 2 * c->frame_B / wan_block_B(c, part_B) : 1;
}

double wan_burst_B(const struct wan_carrier *c)
{
    return 2 * c->segment_B;
}

double wan_streams_used(const struct wan_carrier *c, double rate_Bps, double rtt_s, double peers)
{
    if (c->segment_B <= 0)
        return fmax(1, c->streams);
    double worth = fmax(1, floor(rate_Bps * rtt_s / 2 / wan_burst_B(c)));
    return fmax(1, fmin(c->streams, ceil(worth / peers)));
}

/* One stream, for all are alike: its bytes of each exchange leave in units, as many as a paced stream
 * sends at once. */
struct stream {
    double unit_B, window_B; /* window_B: to begin with; infinite: open */
    double usual_B;          /* the window that its pace is from, at least */
    double gap_s;            /* between two units of an open window */
    double line_s;           /* of a unit of every stream on the uplink */
    double way_s;            /* from a block's last unit until it can be forwarded */
    int units, block;        /* of an exchange, of a block */
};

#define UNITS_MOST 4096 /* windows are open long before */

/* The unit of the previous exchange that unit i needs: the last one of the same block. */
static int needed(const struct stream *s, int i)
{
    int at = i % s->units, last = at - at % s->block + s->block - 1;
    return i - at - s->units + (last < s->units ? last : s->units - 1);
}

/* The kernel's pace, two windows a round trip or a given one. */
static double paced_s(const struct stream *s, double rtt_s, int acked)
{
    double window_B = fmax(s->window_B + acked * s->unit_B, s->usual_B);
    return isinf(s->window_B) ? s->gap_s : s->unit_B * rtt_s / 2 / window_B;
}

/* Seconds until the last unit leaves. One leaves when its block has come, the pace allows, of which a
 * stream that was idle skips up to a half, and the window takes it: it has grown by all that was
 * acknowledged. */
static double last_leaves(const struct stream *s, const struct wan_course *k, double visits)
{
    double left_s[UNITS_MOST], free_s = -INFINITY, at_s = 0;
    int n = (int)fmin(s->units * visits, UNITS_MOST);
    for (int i = 0; i < n; i++) {
        double beyond_B = fmax(0, (i + 1) * s->unit_B - s->window_B);
        int acked = (int)fmin(i, ceil(beyond_B / 2 / s->unit_B));
        at_s = fmax(0, free_s);
        if (i >= s->units)
            at_s = fmax(at_s, left_s[needed(s, i)] + s->way_s);
        if (acked)
            at_s = fmax(at_s, left_s[acked - 1] + k->rtt_s);
        left_s[i] = at_s;
        double pace_s = paced_s(s, k->rtt_s, acked);
        free_s = at_s + fmax(s->line_s, pace_s - fmin(pace_s / 2, at_s - free_s));
    }
    return at_s;
}

/* What slow start and the pace add to so many exchanges on the same streams. */
static double held_s(struct stream s, const struct wan_course *k, double visits)
{
    double slow_s = last_leaves(&s, k, visits);
    s.window_B = INFINITY;
    s.gap_s = 0;
    return slow_s - last_leaves(&s, k, visits);
}

/* A part of few blocks takes other streams for each exchange, in turn: those of the second still
 * have blocks of the first. Then a stream has sent one block when its window is to grow, and it
 * grows to two (tcp_is_cwnd_limited). */
double wan_opening_s(const struct wan_carrier *c, const struct wan_course *k)
{
    if ((c->window <= 0 && !c->bbr) || k->sent_B <= 0 || !isfinite(k->send_s))
        return 0;
    double streams = wan_streams_used(c, k->sent_B / k->send_s, k->rtt_s, k->peers);
    double part_B = k->sent_B / k->peers, block_B = wan_block_B(c, part_B);
    double busy = fmin(streams, ceil(part_B / block_B)), share_B = part_B / busy;
    bool others = busy < streams;
    share_B += ceil(share_B / block_B) * c->frame_B;
    double unit_B = fmin(share_B, wan_burst_B(c)), units = fmin(UNITS_MOST, ceil(share_B / unit_B));
    struct stream s = {.unit_B = unit_B,
                       .window_B = c->bbr ? INFINITY : c->window * c->segment_B,
                       .usual_B = others ? 2 * share_B : 0,
                       .gap_s = streams * k->peers * unit_B * k->send_s / k->sent_B,
                       .line_s = k->send_s / units,
                       .way_s = k->wait_s - k->block_s,
                       .units = (int)units,
                       .block = (int)fmax(1, rint(fmin(1, block_B / share_B) * units))};
    if (!others)
        return c->bbr ? 0 : held_s(s, k, k->visits);
    double both_s = k->exchanges > 1 && busy > 1 ? held_s(s, k, 2) : 2 * held_s(s, k, 1);
    return both_s + (k->exchanges - 2) * held_s(s, k, 1);
}

#define SAMPLES 9 /* measured times; their median counts */

/* P(at least half of the samples), each with probability p. */
static double most_of_them(double p)
{
    double sum = 0, ways = 1;
    for (int k = 0; k <= SAMPLES; ways = ways * (SAMPLES - k) / (k + 1), k++)
        if (2 * k > SAMPLES)
            sum += ways * pow(p, k) * pow(1 - p, SAMPLES - k);
    return sum;
}

/* The mean over the medians of SAMPLES counts, each the largest of `chains` counts of n chances with
 * probability p. Where about half of all are 0, the median of a few is as often 0 as 1. */
static double median_most(double chains, double n, double p)
{
    double term = pow(1 - p, n), below = term, mean = 0, more = 1;
    for (double k = 0; k < n && p < 1 && more > 1e-6; k++) {
        more = most_of_them(fmax(0, 1 - pow(below, chains)));
        mean += more;
        term *= (n - k) / (k + 1) * p / (1 - p);
        below += term;
    }
    return p < 1 ? mean : n;
}

/* The last exchange has nothing behind it that could keep the line busy. What is lost early in it
 * is there again before its end: `late_s` is what the latest of the losses in its last moments
 * costs, which fall anywhere in them. */
static double last_exchange(double losses, double repair_s, double send_s, double *late_s)
{
    double tail_s = fmin(send_s, repair_s), in_tail = send_s > 0 ? losses * tail_s / send_s : 0;
    double some = 1 - exp(-in_tail);
    *late_s = in_tail > 0 ? repair_s - tail_s / (in_tail / some + 1) : 0;
    return some;
}

double wan_repair_s(const struct wan_carrier *c, const struct wan_course *k)
{
    if (c->loss <= 0 || c->segment_B <= 0 || k->sent_B <= 0)
        return 0;
    double repair_s = (1 + REORDERING) * k->rtt_s + TICKS_LEAST * c->tick_s;
    double losses = c->loss * k->sites * ceil(k->sent_B / c->segment_B); /* in an exchange */
    double chains =
        k->sites * k->peers * wan_streams_used(c, k->sent_B / k->send_s, k->rtt_s, k->peers);
    double slack_s = fmax(0, k->send_s - k->wait_s), late_s;
    double inner = (k->exchanges - 1) * (1 - exp(-losses));
    double inner_s = fmax(0, repair_s - slack_s);
    double last = last_exchange(losses, repair_s, k->send_s, &late_s);
    inner = inner_s > 0 ? inner : 0;
    if (inner + last <= 0)
        return 0;
    double chances = inner > 0 ? k->exchanges : 1;
    double part = (inner + last) / chances; /* of the exchanges have a loss that delays */
    double each = 1 - pow(1 - fmin(part, 1 - 1e-9), 1 / chains);
    return median_most(chains, chances, each) * (inner * inner_s + last * late_s) / (inner + last);
}
