/* SPDX-License-Identifier: Apache-2.0 */
#include "common/wan_carrier.h"

#include <math.h>

#define REORDERING 0.25 /* of a round trip: RACK's patience with packets out of order */
#define TICKS_LEAST 2   /* of a timer: TCP_TIMEOUT_MIN */

double wan_block_B(const struct wan_carrier *c, double part_B)
{
    double fine = c->pieces > 0 ? part_B / c->pieces : 0;
    return fmin(part_B, fmin(fmax(fine, c->least_B), fmax(c->most_B, c->least_B)));
}

double wan_streams_used(const struct wan_carrier *c, double rate_Bps, double rtt_s, double peers)
{
    if (c->segment_B <= 0)
        return fmax(1, c->streams);
    double worth = fmax(1, floor(rate_Bps * rtt_s / (4 * c->segment_B)));
    return fmax(1, fmin(c->streams, ceil(worth / peers)));
}

double wan_opening_s(const struct wan_carrier *c, const struct wan_course *k)
{
    double streams = wan_streams_used(c, k->sent_B / k->send_s, k->rtt_s, k->peers);
    double window_B = c->window * c->segment_B * streams * k->peers, left_B = k->visits * k->sent_B;
    double pace_s = fmax(k->send_s, k->visits > 1 ? k->wait_s : 0) / k->sent_B; /* a byte */
    double stalled_s = 0;
    if (window_B <= 0)
        return 0;
    while ((left_B -= window_B) > 0 && window_B * pace_s < k->rtt_s) {
        stalled_s += k->rtt_s - window_B * pace_s;
        window_B *= 2;
    }
    return stalled_s;
}

/* Of the binomial distribution: the least k of n with P(K <= k) >= 1/2. */
static double binomial_median(double n, double p)
{
    double k = 0, term = pow(1 - p, n), sum = term;
    for (; sum < 0.5 && k < n && p < 1; k++) {
        term *= (n - k) / (k + 1) * p / (1 - p);
        sum += term;
    }
    return p < 1 ? k : n;
}

/* A block ends with a packet that is not full. */
static double packets_of(const struct wan_carrier *c, const struct wan_course *k)
{
    double block_B = k->block_B > 0 ? k->block_B : k->sent_B;
    return ceil(k->sent_B / block_B) * ceil(block_B / c->segment_B);
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
    double losses = c->loss * k->sites * packets_of(c, k); /* in an exchange */
    double slack_s = fmax(0, k->send_s - k->wait_s), late_s;
    double inner = (k->exchanges - 1) * (1 - exp(-losses));
    double inner_s = fmax(0, repair_s - slack_s);
    double last = last_exchange(losses, repair_s, k->send_s, &late_s);
    inner = inner_s > 0 ? inner : 0;
    if (inner + last <= 0)
        return 0;
    double chances = inner > 0 ? k->exchanges : 1;
    double late = binomial_median(chances, (inner + last) / chances);
    return late * (inner * inner_s + last * late_s) / (inner + last);
}
