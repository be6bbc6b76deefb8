/* SPDX-License-Identifier: Apache-2.0
 *
 * The estimate of an uplink against a link that is computed: fluid, with a queue that drops what it
 * cannot hold, and TCP as a window that doubles. Whatever the rate and the round trip, the estimate
 * comes within a few percent of it, follows it, and does not believe stalls and bursts.
 */
#include "common/rng.h"
#include "unit.h"
#include "wan_sync/transport/tcp.h"

#include "../../plugins/wan_sync/transport/tcp_pace.c" // NOLINT(bugprone-suspicious-include)

#define STEP_S 0.005
#define PAST 1024

struct line {
    double rate, rtt, room_s; /* room_s: seconds of `rate` that the queue holds */
    double now, queue_B, window_B;
    double past[PAST]; /* bytes delivered by then */
    unsigned steps;
    double delivered_B;
    struct rng *rng; /* NULL: acknowledgements come when they should */
    double held_back_B;
};

/* One step of a sender that always has more to send; returns what it sent. */
static double step(struct line *l, double pace)
{
    double rtt = l->rtt + l->queue_B / l->rate;
    double by_window = l->window_B / rtt, sends = pace > 0 ? fmin(pace, by_window) : by_window;
    double in = sends * STEP_S, out = fmin(l->queue_B + in, l->rate * STEP_S);
    l->queue_B += in - out;
    if (l->queue_B > l->room_s * l->rate) { /* lost, and the window is cut */
        l->queue_B = l->room_s * l->rate;
        l->window_B *= 0.7;
    } else if (sends >= 0.99 * by_window) {
        l->window_B *= exp2(STEP_S / rtt);
    }
    l->delivered_B += out;
    l->past[l->steps++ % PAST] = l->delivered_B;
    l->now += STEP_S;
    return in;
}

static double acknowledged(struct line *l)
{
    unsigned ago = (unsigned)(l->rtt / STEP_S) + 1; /* what waited has waited by then */
    double acked = l->steps > ago ? l->past[(l->steps - ago) % PAST] : 0;
    if (l->rng && rng_below(l->rng, 20) == 0) /* some come late, and then together */
        l->held_back_B = 0.02 * l->rate * rng_uniform(l->rng);
    l->held_back_B = fmax(0, l->held_back_B - 0.3 * l->rate * STEP_S);
    return fmax(0, acked - l->held_back_B);
}

/* Sends for so long; returns what came through, of what could have. */
static double send_for(struct line *l, struct tcp_pace *p, double seconds)
{
    double before = l->delivered_B, end = l->now + seconds, highest = 0;
    while (l->now < end) {
        step(l, tcp_pace_rate(p));
        highest = fmax(highest, acknowledged(l));
        tcp_pace_feed(p, &(struct tcp_pace_seen){.now = l->now,
                                                 .acked = (uint64_t)highest,
                                                 .rtt = l->rtt + l->queue_B / l->rate,
                                                 .rtt_min = l->rtt,
                                                 .busy = true});
    }
    return (l->delivered_B - before) / (l->rate * seconds);
}

static struct line line_of(double mbps, double rtt_s)
{
    return (struct line){.rate = mbps * 125e3,
                         .rtt = rtt_s,
                         .room_s = fmax(rtt_s, 0.02),
                         .now = 1000,
                         .window_B = 80 * 9000};
}

#define near_share(got, want, share) near(got, want, (share) * (want))

TEST(finds_the_rate)
{
    static const double rates[] = {10, 100, 1000, 10000}, rtts[] = {0.001, 0.01, 0.05, 0.2};
    for (int r = 0; r < 4; r++)
        for (int t = 0; t < 4; t++) {
            struct line l = line_of(rates[r], rtts[t]);
            struct tcp_pace p;
            tcp_pace_init(&p);
            send_for(&l, &p, 3 + 20 * rtts[t]);
            near_share(p.rate, l.rate, 0.04);
            double used = send_for(&l, &p, 5);
            if (used < 0.94)
                fail_msg("%g Mbit/s, %g s: %g used", rates[r], rtts[t], used);
        }
}

TEST(within_a_second)
{
    struct line l = line_of(1000, 0.05);
    struct tcp_pace p;
    tcp_pace_init(&p);
    send_for(&l, &p, 1);
    assert_true(tcp_pace_known(&p));
    near_share(p.rate, l.rate, 0.04);
}

TEST(stands_bursts)
{
    struct rng rng;
    rng_seed(&rng, 3);
    struct line l = line_of(1000, 0.03);
    l.rng = &rng;
    struct tcp_pace p;
    tcp_pace_init(&p);
    send_for(&l, &p, 2);
    for (int i = 0; i < 20; i++) {
        send_for(&l, &p, 0.5);
        near_share(p.rate, l.rate, 0.12);
    }
}

TEST(follows_a_change)
{
    struct line l = line_of(1000, 0.03);
    struct tcp_pace p;
    tcp_pace_init(&p);
    send_for(&l, &p, 3);
    l.rate /= 10;
    send_for(&l, &p, 6);
    near_share(p.rate, l.rate, 0.1);
    l.rate *= 10;
    send_for(&l, &p, 6);
    near_share(p.rate, l.rate, 0.06);
}

/* A minute in which little is to be sent says nothing about the link. */
TEST(little_to_send)
{
    struct line l = line_of(1000, 0.03);
    struct tcp_pace p;
    tcp_pace_init(&p);
    send_for(&l, &p, 3);
    double rate = p.rate, acked = l.delivered_B;
    for (int i = 0; i < 12000; i++) {
        acked += 0.05 * l.rate * STEP_S;
        tcp_pace_feed(&p, &(struct tcp_pace_seen){.now = l.now += STEP_S,
                                                  .acked = (uint64_t)acked,
                                                  .rtt = l.rtt,
                                                  .rtt_min = l.rtt,
                                                  .busy = i % 10 == 0});
    }
    near_share(p.rate, rate, 1e-9);
}

/* A receiver that does not read is no slower link. */
TEST(held_back)
{
    struct line l = line_of(1000, 0.03);
    struct tcp_pace p;
    tcp_pace_init(&p);
    send_for(&l, &p, 3);
    double rate = p.rate;
    for (int i = 0; i < 1000; i++)
        tcp_pace_feed(&p, &(struct tcp_pace_seen){.now = l.now += STEP_S,
                                                  .acked = (uint64_t)l.delivered_B,
                                                  .rtt = l.rtt,
                                                  .rtt_min = l.rtt,
                                                  .busy = true,
                                                  .held = true});
    near_share(p.rate, rate, 1e-9);
}
