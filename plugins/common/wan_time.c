/* SPDX-License-Identifier: Apache-2.0
 *
 * The time of an all-reduce by strategy. Blocks flow on as they come, so that the exchanges of a
 * strategy overlap: it takes as long as its uplinks are busy and the last byte is on its way, or as
 * the longest chain of blocks that wait for each other, whichever is more.
 */
#include "common/wan_time.h"

#include <math.h>

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
    double block_B = wan_block_B(c, part_B), burst_B = wan_burst_B(c);
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
    double burst_B = net->carrier ? fmin(bytes / n, wan_burst_B(net->carrier)) : 0;
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
    static struct wan_course (*const all[])(const struct wan_net *, double) = {
        [WAN_RING] = ring,
        [WAN_DIRECT] = direct,
        [WAN_RECURSIVE_DOUBLING] = recursive_doubling,
        [WAN_RABENSEIFNER] = rabenseifner,
        [WAN_ONESHOT] = oneshot,
        [WAN_HIERARCHICAL] = hierarchical,
    };
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
