/* SPDX-License-Identifier: Apache-2.0 */

#include "common/wan_model.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TO_ALL(value, name, to_all) [value] = to_all,
const char *const wan_strategy_names[WAN_RECORDED] = {WAN_EACH_STRATEGY(WAN_STRATEGY_NAME) NULL,
                                                      WAN_EACH_OLD_STRATEGY(WAN_STRATEGY_NAME)};
const bool wan_strategy_to_all[WAN_RECORDED] = {WAN_EACH_STRATEGY(TO_ALL)
                                                    WAN_EACH_OLD_STRATEGY(TO_ALL)};

/* What the shares add up to when each takes what `t` lets it; the slope of that in t. */
static double shares_at(const double *up_Bps, size_t n, double bytes, double t, double *slope)
{
    double sum = 0, rates = 0, others = (double)(n - 2);
    for (size_t k = 0; k < n; k++)
        if (t * up_Bps[k] > bytes) {
            sum += (t * up_Bps[k] / bytes - 1) / others;
            rates += up_Bps[k];
        }
    *slope = rates / bytes / others;
    return sum;
}

/* That sum is convex and rises in t: Newton's steps from above end at the root, after as many as
 * there are different rates at most. */
double wan_shares(const double *up_Bps, size_t n, double bytes, double *x)
{
    double others = n > 2 ? (double)(n - 2) : 0;
    double slowest_Bps = INFINITY;
    for (size_t k = 0; k < n; k++)
        slowest_Bps = fmin(slowest_Bps, up_Bps[k]);
    double floor_s = bytes / slowest_Bps; /* x = 0 everywhere still sends D once */
    double t = floor_s * (1 + others), slope, sum = 0;
    for (bool more = others > 0; more;) {
        double over = shares_at(up_Bps, n, bytes, t, &slope) - 1;
        double next = fmax(floor_s, t - over / slope);
        more = over > 0 && next < t * (1 - 1e-15);
        t = fmin(t, next);
    }
    for (size_t k = 0; x && k < n; k++)
        sum += x[k] = others > 0 ? fmax(0, (t * up_Bps[k] / bytes - 1) / others) : up_Bps[k];
    for (size_t k = 0; x && k < n; k++)
        x[k] /= sum;
    return t;
}

/* ---- with pairs ---- */

/* The simplex method on a tableau of `rows` inequalities a y <= b, b >= 0, and one row of costs, with
 * `cols` columns and then b. Maximises the sum of y. basis[]: by row the column whose value it is. Bland's
 * rule: it ends. */
static void maximise(double *t, size_t rows, size_t cols, size_t *basis)
{
    size_t width = cols + 1;
    for (;;) {
        size_t in = 0, out = rows;
        while (in < cols && t[rows * width + in] >= -1e-12)
            in++;
        for (size_t r = 0; in < cols && r < rows; r++) {
            double a = t[r * width + in];
            if (a <= 1e-12)
                continue;
            double ratio = t[r * width + cols] / a;
            double least = out < rows ? t[out * width + cols] / t[out * width + in] : INFINITY;
            if (ratio < least || (ratio <= least && basis[r] < basis[out]))
                out = r;
        }
        if (out == rows)
            return;
        double pivot = t[out * width + in];
        for (size_t c = 0; c < width; c++)
            t[out * width + c] /= pivot;
        for (size_t r = 0; r <= rows; r++) {
            double by = t[r * width + in];
            for (size_t c = 0; r != out && by != 0 && c < width; c++)
                t[r * width + c] -= by * t[out * width + c];
        }
        basis[out] = in;
    }
}

/* With y = x / T, s = 1 / T = sum of y: maximise s, where D [s + (S-2) y_i] <= B_i and
 * D (y_i + y_j) <= B_ij. */
double wan_shares_of_pairs(const double *end_Bps, const double *pair_Bps, size_t n, double bytes,
                           double *x)
{
    size_t rows = n + n * (n - 1) / 2, cols = n + rows, width = cols + 1, r = n;
    double *t = n > WAN_SHARES_MOST ? NULL : calloc((rows + 1) * width, sizeof *t), sum = 0;
    size_t *basis = calloc(rows + 1, sizeof *basis);
    for (size_t i = 0; t && basis && i < n; i++) {
        for (size_t k = 0; k < n; k++)
            t[i * width + k] = 1;
        t[i * width + i] += (double)n - 2;
        t[i * width + cols] = end_Bps[i] / bytes;
        t[rows * width + i] = -1;
        for (size_t k = i + 1; k < n; k++, r++) {
            double out = pair_Bps[i * n + k], in = pair_Bps[k * n + i];
            double rate = fmin(out > 0 ? out : INFINITY, in > 0 ? in : INFINITY);
            t[r * width + i] = t[r * width + k] = 1;
            /* More than both ends carry is no limit. */
            t[r * width + cols] = fmin(rate, end_Bps[i] + end_Bps[k]) / bytes;
        }
    }
    for (size_t k = 0; t && basis && k < rows; k++) {
        basis[k] = n + k;
        t[k * width + n + k] = 1;
    }
    if (t && basis)
        maximise(t, rows, cols, basis);
    for (size_t i = 0; x && i < n; i++)
        x[i] = 0;
    for (size_t k = 0; t && basis && k < rows; k++)
        if (basis[k] < n) {
            sum += t[k * width + cols];
            if (x)
                x[basis[k]] = t[k * width + cols];
        }
    for (size_t i = 0; x && sum > 0 && i < n; i++)
        x[i] /= sum;
    free(t);
    free(basis);
    return sum > 0 ? 1 / sum : INFINITY;
}

#define REORDERING 0.25 /* of a round trip: RACK's patience with packets out of order */
#define TICKS_LEAST 2   /* of a timer: TCP_TIMEOUT_MIN */

/* Constants of plugins/wan_sync. A hop costs a wake-up of the relay's host and one of the receiver,
 * two copies and an addition: a tenth of a millisecond on an idle machine. */
#define HOP_S 1e-4
#define FIRST_WINDOW 10.0 /* RFC 6928; BBR keeps its window during a pause */
#define FRAME_B 16.0      /* tcp.h: of the head of a block */
#define TICK_S 4e-3       /* CONFIG_HZ=250, the kernels of Debian and Ubuntu */

struct wan_carrier wan_carrier_make(double block_B, double streams, double segment_B, bool bbr,
                                    double loss)
{
    struct wan_carrier c = {.least_B = WAN_LEAST_BLOCK_B,
                            .most_B = block_B,
                            .pieces = WAN_PIECES,
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

/* The exchanges of a strategy, one after the other, between equal sites. */
struct wan_course {
    double time_s; /* all exchanges, without slow start and losses */
    double exchanges;
    double sent_B;  /* bytes that a site sends in one exchange */
    double peers;   /* peers that a site sends to in one exchange */
    double visits;  /* number of exchanges with the same peers */
    double send_s;  /* time that the uplink is busy in one exchange */
    double wait_s;  /* from a block's first byte until it can be forwarded: delay and block */
    double block_s; /* the block's part of it */
    double rtt_s;
    double sites;
};

/* Size of the blocks of a part. */
static double wan_block_B(const struct wan_carrier *c, double part_B)
{
    double fine = c->pieces > 0 ? part_B / c->pieces : 0;
    return fmin(part_B, fmin(fmax(fine, c->least_B), fmax(c->most_B, c->least_B)));
}

/* Bytes that streams carry for each byte of a part. */
static double wan_framed(const struct wan_carrier *c, double part_B)
{
    return c && c->segment_B > 0 && part_B > 0 ? 1 + 2 * c->frame_B / wan_block_B(c, part_B) : 1;
}

/* What a paced stream sends at once: two segments. */
static double burst_of(const struct wan_carrier *c)
{
    return 2 * c->segment_B;
}

/* Streams used per peer when sending to `peers` peers at once: as many as have first bursts (two segments
 * each) of about half of rate x RTT together (plugins/wan_sync, tcp_link.c). */
static double wan_streams_used(const struct wan_carrier *c, double rate_Bps, double rtt_s,
                               double peers)
{
    if (c->segment_B <= 0)
        return fmax(1, c->streams);
    double worth = fmax(1, floor(rate_Bps * rtt_s / 2 / burst_of(c)));
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

/* Seconds until the last unit leaves. A unit leaves when three conditions hold: its block has arrived;
 * the pace allows it (a stream that was idle waits less, at least half as long); and it fits into the
 * window. Acknowledged bytes widen the window. */
static double last_leaves(const struct stream *s, const struct wan_course *k, double visits)
{
    double left_s[UNITS_MOST], free_s = -INFINITY, at_s = 0;
    int n = (int)fmin(s->units * visits, UNITS_MOST);
    for (int i = 0; i < n; i++) {
        double beyond_B = fmax(0, (i + 1) * s->unit_B - s->window_B);
        int acked = (int)fmin(i, ceil(beyond_B / 2 / s->unit_B));
        at_s = fmax(0, free_s);
        if (i >= s->units) { /* it needs the last unit of the same block of the previous exchange */
            int at = i % s->units, last = at - at % s->block + s->block - 1;
            int needed = i - at - s->units + (last < s->units ? last : s->units - 1);
            at_s = fmax(at_s, left_s[needed] + s->way_s);
        }
        if (acked)
            at_s = fmax(at_s, left_s[acked - 1] + k->rtt_s);
        left_s[i] = at_s;
        /* The kernel's pace is two windows a round trip, or a given one. */
        double window_B = fmax(s->window_B + acked * s->unit_B, s->usual_B);
        double pace_s = isinf(s->window_B) ? s->gap_s : s->unit_B * k->rtt_s / 2 / window_B;
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

/* Seconds that slow start adds. A part of few blocks takes other streams for each exchange, in turn: those of the second still
 * have blocks of the first. Then a stream has sent one block when its window is to grow, and it
 * grows to two (tcp_is_cwnd_limited). */
static double wan_opening_s(const struct wan_carrier *c, const struct wan_course *k)
{
    if ((c->window <= 0 && !c->bbr) || k->sent_B <= 0 || !isfinite(k->send_s))
        return 0;
    double streams = wan_streams_used(c, k->sent_B / k->send_s, k->rtt_s, k->peers);
    double part_B = k->sent_B / k->peers, block_B = wan_block_B(c, part_B);
    double busy = fmin(streams, ceil(part_B / block_B)), share_B = part_B / busy;
    bool others = busy < streams;
    share_B += ceil(share_B / block_B) * c->frame_B;
    double unit_B = fmin(share_B, burst_of(c)), units = fmin(UNITS_MOST, ceil(share_B / unit_B));
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

/* The mean over the medians of SAMPLES counts, each the largest of `chains` counts of n chances with
 * probability p. Where about half of all are 0, the median of a few is as often 0 as 1. */
static double median_most(double chains, double n, double p)
{
    double term = pow(1 - p, n), below = term, mean = 0, more = 1;
    for (double k = 0; k < n && p < 1 && more > 1e-6; k++) {
        /* The chance that more than half of the samples have more than k, as each has with p_more. */
        double p_more = fmax(0, 1 - pow(below, chains)), ways = 1;
        more = 0;
        for (int i = 0; i <= SAMPLES; ways = ways * (SAMPLES - i) / (i + 1), i++)
            if (2 * i > SAMPLES)
                more += ways * pow(p_more, i) * pow(1 - p_more, SAMPLES - i);
        mean += more;
        term *= (n - k) / (k + 1) * p / (1 - p);
        below += term;
    }
    return p < 1 ? mean : n;
}

/* Median of the seconds that losses add. */
static double wan_repair_s(const struct wan_carrier *c, const struct wan_course *k)
{
    if (c->loss <= 0 || c->segment_B <= 0 || k->sent_B <= 0)
        return 0;
    double repair_s = (1 + REORDERING) * k->rtt_s + TICKS_LEAST * c->tick_s;
    double losses = c->loss * k->sites * ceil(k->sent_B / c->segment_B); /* in an exchange */
    double chains =
        k->sites * k->peers * wan_streams_used(c, k->sent_B / k->send_s, k->rtt_s, k->peers);
    double slack_s = fmax(0, k->send_s - k->wait_s);
    double inner = (k->exchanges - 1) * (1 - exp(-losses));
    double inner_s = fmax(0, repair_s - slack_s);
    /* The last exchange has nothing behind it that could keep the line busy. What is lost early in it
     * is there again before its end: late_s is what the latest of the losses in its last moments costs,
     * which fall anywhere in them. */
    double tail_s = fmin(k->send_s, repair_s);
    double in_tail = k->send_s > 0 ? losses * tail_s / k->send_s : 0;
    double last = 1 - exp(-in_tail);
    double late_s = in_tail > 0 ? repair_s - tail_s / (in_tail / last + 1) : 0;
    inner = inner_s > 0 ? inner : 0;
    if (inner + last <= 0)
        return 0;
    double chances = inner > 0 ? k->exchanges : 1;
    double part = (inner + last) / chances; /* of the exchanges have a loss that delays */
    double each = 1 - pow(1 - fmin(part, 1 - 1e-9), 1 / chains);
    return median_most(chains, chances, each) * (inner * inner_s + last * late_s) / (inner + last);
}

/* The time of an all-reduce by strategy. Blocks flow on as they come, so that the exchanges of a
 * strategy overlap: it takes as long as its uplinks are busy and the last byte is on its way, or as
 * the longest chain of blocks that wait for each other, whichever is more. */

static double least(const double *x, size_t n)
{
    double v = INFINITY;
    for (size_t i = 0; i < n; i++)
        v = fmin(v, x[i]);
    return v;
}

static double mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* The rate that holds everybody up when all send and receive the same amount, in bytes of a part. */
static double bottleneck(const struct wan_net *net, double part_B)
{
    return fmin(least(net->up_Bps, net->n), least(net->down_Bps, net->n)) /
           wan_framed(net->carrier, part_B);
}

static double flat(const struct wan_net *net)
{
    return fmax(1, net->flat);
}

/* What a block of a part costs before it is passed on, beside its way: it must be whole. */
struct step {
    double block_s; /* on the uplink */
    double wait_s;  /* on its way, and where it comes */
};

static struct step step_of(const struct wan_net *net, double delay_s, double part_B,
                           double rate_Bps)
{
    if (!net->carrier)
        return (struct step){0, delay_s};
    return (struct step){wan_block_B(net->carrier, part_B) / rate_Bps,
                         delay_s + net->carrier->hop_s};
}

/* How much longer a block is on the uplink beside others: of a large one each stream sends a burst in
 * turn, the first at once; small ones that wait on the same stream leave in one burst. */
static double beside_s(const struct wan_carrier *c, double part_B, double rate_Bps, double rtt_s)
{
    if (!c || c->segment_B <= 0 || rate_Bps <= 0)
        return 0;
    double block_B = wan_block_B(c, part_B), burst_B = burst_of(c);
    double busy = fmin(wan_streams_used(c, rate_Bps, rtt_s, 1), ceil(part_B / block_B));
    double more_B = block_B > burst_B ? (busy - 1) * (block_B - burst_B)
                                      : fmax(0, fmin(burst_B, part_B / busy) - block_B);
    return more_B / rate_Bps;
}

/* Rounds of the power of two below n, and the exchanges of the whole that bring the others in and
 * out. */
static double rounds(size_t n, double *folds)
{
    double whole = floor(log2((double)n));
    *folds = exp2(whole) < (double)n ? 2 : 0;
    return whole;
}

/* Two cycles: a site's uplink is busy c/B a step, and a block needs its own time and a hop's delay.
 * The longer one paces all steps but the last. Of the ranks of a site one sends to the next site.
 */
static struct wan_course ring(const struct wan_net *net, double bytes)
{
    double members = (double)net->n * flat(net), steps = 2 * (members - 1);
    double part_B = bytes / members, rate_Bps = bottleneck(net, part_B);
    double send_s = part_B / rate_Bps, delay_s = mean(net->hop_s, net->n) / flat(net);
    struct step s = step_of(net, delay_s, part_B, rate_Bps);
    s.block_s += beside_s(net->carrier, part_B, rate_Bps, 2 * delay_s);
    double chain_s = s.block_s + s.wait_s;
    return (struct wan_course){
        .time_s = steps * fmax(send_s, chain_s) + fmin(send_s - s.block_s, s.wait_s),
        .exchanges = steps,
        .visits = steps,
        .sent_B = part_B,
        .send_s = send_s,
        .wait_s = chain_s,
        .block_s = s.block_s,
    };
}

/* The blocks to all others leave side by side, one on each stream to each of them or as much as
 * leaves at once, and a sum has to wait for the last of its blocks. */
static struct wan_course direct(const struct wan_net *net, double bytes)
{
    double n = (double)net->n, others = n - 1, sent_B = others / n * bytes;
    double rate_Bps = bottleneck(net, bytes / n) / flat(net), send_s = sent_B / rate_Bps;
    bool pairs = net->pair_Bps && net->n <= WAN_SHARES_MOST;
    if (!net->equal_shares && pairs) /* the time of two exchanges */
        send_s = wan_shares_of_pairs(net->end_Bps, net->pair_Bps, net->n, bytes, NULL) / 2 *
                 flat(net) * wan_framed(net->carrier, bytes / n);
    else if (!net->equal_shares)
        send_s = fmax(wan_shares(net->up_Bps, net->n, bytes, NULL),
                      wan_shares(net->down_Bps, net->n, bytes, NULL)) /
                 2 * flat(net) * wan_framed(net->carrier, bytes / n);
    struct step s = step_of(net, net->farthest_s, bytes / n, rate_Bps);
    double streams =
        net->carrier ? wan_streams_used(net->carrier, rate_Bps, 2 * net->farthest_s, others) : 1;
    double burst_B = net->carrier ? fmin(bytes / n, burst_of(net->carrier)) : 0;
    double turn_s = fmax(s.block_s, burst_B / rate_Bps);
    double block_s = fmin(send_s, (others * streams - 1) * turn_s + s.block_s);
    return (struct wan_course){
        .time_s = send_s + s.wait_s + fmax(send_s, block_s + s.wait_s),
        .exchanges = 2,
        .visits = 2,
        .peers = others,
        .sent_B = sent_B,
        .send_s = send_s,
        .wait_s = block_s + s.wait_s,
        .block_s = s.block_s,
    };
}

static struct wan_course recursive_doubling(const struct wan_net *net, double bytes)
{
    double folds, steps = rounds(net->n, &folds) + folds;
    double rate_Bps = bottleneck(net, bytes) / flat(net), send_s = bytes / rate_Bps;
    struct step s = step_of(net, net->farthest_s, bytes, rate_Bps);
    return (struct wan_course){
        .time_s =
            fmax(steps * send_s + s.wait_s, steps * s.wait_s + send_s + (steps - 1) * s.block_s),
        .exchanges = steps,
        .sent_B = bytes,
        .send_s = send_s,
        .wait_s = s.block_s + s.wait_s,
        .block_s = s.block_s,
    };
}

/* All vectors leave at once: each site sends and receives all that the others have. */
static struct wan_course oneshot(const struct wan_net *net, double bytes)
{
    double others = (double)net->n - 1, sent_B = others * flat(net) * bytes;
    double rate_Bps = bottleneck(net, bytes) / flat(net), send_s = sent_B / rate_Bps;
    struct step s = step_of(net, net->farthest_s, bytes, rate_Bps);
    return (struct wan_course){
        .time_s = send_s + s.wait_s,
        .exchanges = 1,
        .peers = others,
        .sent_B = sent_B,
        .send_s = send_s,
        .wait_s = s.block_s + s.wait_s,
    };
}

/* Halves, quarters .. and back. The first exchange sends a half; of what comes in the second, the
 * later part is sent on for the last time when a quarter more has left. Every other member sends
 * its quarter of the second exchange at once, for it is what comes first, and not when the first
 * has ended: to one whose downlink still takes a half from elsewhere. Three quarters come there
 * before more than a half has left, and one quarter's time of all uplinks is lost to that, less the
 * round trip of the rate that leaves all the same, for the way holds it. */
static struct wan_course rabenseifner(const struct wan_net *net, double bytes)
{
    double folds, steps = rounds(net->n, &folds), members = exp2(steps);
    double rate_Bps = bottleneck(net, bytes / members) / flat(net), whole_s = bytes / rate_Bps;
    double sent_s = 2 * (members - 1) / members * whole_s;
    struct step s = step_of(net, net->farthest_s, bytes / members, rate_Bps);
    double chain_s = 2 * steps * s.wait_s + (steps > 1 ? 0.75 : 0.5) * whole_s + steps * s.block_s;
    double lost_s = net->carrier && steps > 1 ? fmax(0, whole_s / 4 - 2 * net->farthest_s) : 0;
    return (struct wan_course){
        .time_s = fmax(sent_s + lost_s + fmin(steps, 2) * s.wait_s, chain_s) +
                  folds * (whole_s + s.wait_s),
        .exchanges = 2 * steps + folds,
        .visits = 2,
        .sent_B = (members - 1) / members / steps * bytes,
        .send_s = sent_s / 2 / steps,
        .wait_s = s.block_s + s.wait_s,
        .block_s = s.block_s,
    };
}

/* The members of a site reduce to its leader, who gives them the sum: 2 (g-1)/g D through the
 * leader each way, where the ways follow each other (wan_sync); at best, one beside the other. */
static struct wan_course hierarchical(const struct wan_net *net, double bytes)
{
    double g = net->ranks_per_site;
    struct wan_course k = ring(net, bytes);
    if (g > 1 && net->lan_Bps > 0)
        k.time_s += (net->carrier ? 4 : 2) * (g - 1) / g * bytes / net->lan_Bps;
    return k;
}

static struct wan_course course_of(enum wan_strategy strategy, const struct wan_net *net,
                                   double bytes)
{
#define COURSE(value, name, to_all) [value] = name,
    static struct wan_course (*const all[])(const struct wan_net *, double) = {
        WAN_EACH_STRATEGY(COURSE) WAN_EACH_OLD_STRATEGY(COURSE)};
    return all[strategy](net, bytes);
}

double wan_sync_s(enum wan_strategy strategy, const struct wan_net *net, double bytes)
{
    if (net->n < 2)
        return 0;
    struct wan_course k = course_of(strategy, net, bytes);
    if (!net->carrier)
        return k.time_s;
    k.sites = (double)net->n;
    k.peers = fmax(k.peers, 1);
    k.visits = fmax(k.visits, 1);
    k.rtt_s = 2 * net->farthest_s;
    return k.time_s + wan_opening_s(net->carrier, &k) + wan_repair_s(net->carrier, &k);
}

double wan_busy_s(enum wan_strategy strategy, const struct wan_net *net, double bytes)
{
    if (net->n < 2)
        return 0;
    struct wan_course k = course_of(strategy, net, bytes);
    return k.exchanges * k.send_s;
}

double wan_wire_bytes(enum wan_strategy strategy, size_t sites, double bytes)
{
    if (sites < 2)
        return 0;
    if (strategy == WAN_RECURSIVE_DOUBLING) {
        double folds, steps = rounds(sites, &folds);
        return (steps + folds / 2) * bytes;
    }
    double others = (double)(sites - 1);
    return strategy == WAN_ONESHOT ? others * bytes : 2 * others / (double)sites * bytes;
}
