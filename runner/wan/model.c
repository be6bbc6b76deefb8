/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include <math.h>

const char *const wan_strategy_names[] = {"ring",         "direct",       "recursive_doubling",
                                          "rabenseifner", "hierarchical", NULL};

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

/* The rate that holds everybody up when all send and receive the same amount. */
static double bottleneck(const struct wan_net *net)
{
    return fmin(least(net->up_Bps, net->n), least(net->down_Bps, net->n));
}

/* A ring pipelined by bytes is a max-plus system of two cycles: a site's uplink is busy c/B a step,
 * and a byte needs the mean hop delay a step. The longer one paces all steps but the last. */
static double ring(const struct wan_net *net, double bytes)
{
    double send = bytes / (double)net->n / bottleneck(net);
    double hop = mean(net->hop_s, net->n);
    return 2 * (double)(net->n - 1) * fmax(send, hop) + fmin(send, hop);
}

static double direct(const struct wan_net *net, double bytes)
{
    if (net->equal_shares)
        return 2 * (double)(net->n - 1) / (double)net->n * bytes / bottleneck(net) +
               2 * net->farthest_s;
    double uplinks = wan_shares(net->up_Bps, net->n, bytes, NULL);
    double downlinks = wan_shares(net->down_Bps, net->n, bytes, NULL);
    return fmax(uplinks, downlinks) + 2 * net->farthest_s;
}

/* Rounds of the power of two below n, and the fold that brings the others in and out. */
static double rounds(size_t n, double *folds)
{
    double whole = floor(log2((double)n));
    *folds = exp2(whole) < (double)n ? 2 : 0;
    return whole;
}

static double recursive_doubling(const struct wan_net *net, double bytes)
{
    double folds, steps = rounds(net->n, &folds);
    return (steps + folds) * (bytes / bottleneck(net) + net->farthest_s);
}

static double rabenseifner(const struct wan_net *net, double bytes)
{
    double folds, steps = rounds(net->n, &folds);
    double members = exp2(steps), rate = bottleneck(net);
    return 2 * steps * net->farthest_s + 2 * (members - 1) / members * bytes / rate +
           folds * (bytes / rate + net->farthest_s);
}

static double hierarchical(const struct wan_net *net, double bytes)
{
    double g = net->ranks_per_site;
    double inside = g > 1 && net->lan_Bps > 0 ? 2 * (g - 1) / g * bytes / net->lan_Bps : 0;
    return inside + ring(net, bytes);
}

double wan_sync_s(enum wan_strategy strategy, const struct wan_net *net, double bytes)
{
    static double (*const time_of[])(const struct wan_net *, double) = {
        [WAN_RING] = ring,
        [WAN_DIRECT] = direct,
        [WAN_RECURSIVE_DOUBLING] = recursive_doubling,
        [WAN_RABENSEIFNER] = rabenseifner,
        [WAN_HIERARCHICAL] = hierarchical,
    };
    return net->n < 2 ? 0 : time_of[strategy](net, bytes);
}

double wan_wire_bytes(enum wan_strategy strategy, size_t sites, double bytes)
{
    if (sites < 2)
        return 0;
    if (strategy == WAN_RECURSIVE_DOUBLING) {
        double folds, steps = rounds(sites, &folds);
        return (steps + folds / 2) * bytes;
    }
    return 2 * (double)(sites - 1) / (double)sites * bytes;
}

/* All that the sites must pass through their ends of one direction. */
static double ends_bound(const double *rate_Bps, size_t n, double bytes)
{
    return fmax(bytes / least(rate_Bps, n),
                2 * (double)(n - 1) / (double)n * bytes / mean(rate_Bps, n));
}

double wan_bound_s(const struct wan_net *net, double bytes)
{
    if (net->n < 2)
        return 0;
    return fmax(ends_bound(net->up_Bps, net->n, bytes), ends_bound(net->down_Bps, net->n, bytes)) +
           net->farthest_s;
}

double wan_shares(const double *up_Bps, size_t n, double bytes, double *x)
{
    double others = n > 2 ? (double)(n - 2) : 0;
    double floor_s = bytes / least(up_Bps, n); /* x = 0 everywhere still sends D once */
    double lo = floor_s, hi = floor_s * (1 + others);
    for (int i = 0; i < 200 && others > 0; i++) {
        double t = (lo + hi) / 2, sum = 0;
        for (size_t k = 0; k < n; k++)
            sum += fmax(0, (t * up_Bps[k] / bytes - 1) / others);
        *(sum >= 1 ? &hi : &lo) = t;
    }
    double t = others > 0 ? hi : floor_s, sum = 0;
    for (size_t k = 0; x && k < n; k++)
        sum += x[k] = others > 0 ? fmax(0, (t * up_Bps[k] / bytes - 1) / others) : up_Bps[k];
    for (size_t k = 0; x && k < n; k++)
        x[k] /= sum;
    return t;
}

double wan_stream_Bps(enum wan_congestion cc, double link_Bps, double rtt_s, double loss,
                      double mss_B, double window_B)
{
    double rate = window_B > 0 ? fmin(link_Bps, window_B / rtt_s) : link_Bps;
    if (loss <= 0)
        return rate;
    double reno = 1.22 * mss_B / (rtt_s * sqrt(loss));
    double cubic = 1.054 * mss_B * pow(rtt_s / loss, 0.75) / rtt_s;
    double limit[] = {
        [WAN_RENO] = reno, [WAN_CUBIC] = fmax(reno, cubic), [WAN_BBR] = link_Bps * (1 - loss)};
    return fmin(rate, limit[cc]);
}

double wan_goodput(double mtu_B)
{
    enum { IP_TCP_B = 52, SEGMENTS_PER_ACK = 2 }; /* headers with the timestamp option */
    return (mtu_B - IP_TCP_B) / (mtu_B + (double)IP_TCP_B / SEGMENTS_PER_ACK);
}

double wan_flops_per_token(const struct wan_job *job)
{
    return 6 * job->parameters + 12 * job->layers * job->width * job->sequence;
}

double wan_compute_s(const struct wan_job *job)
{
    return job->tokens * wan_flops_per_token(job) / (job->gpus * job->peak_flops * job->mfu);
}

double wan_exposed_s(const struct wan_schedule *sch, double compute_s, double fragment_s)
{
    if (sch->fragments <= 1 && sch->overlap <= 0)
        return fragment_s;
    double due = (sch->strict ? 0 : sch->every / sch->fragments) + sch->overlap;
    return sch->fragments * fmax(0, fragment_s - due * compute_s);
}

double wan_efficiency(const struct wan_schedule *sch, double compute_s, double fragment_s)
{
    double busy = sch->every * compute_s;
    return busy / (busy + wan_exposed_s(sch, compute_s, fragment_s) + sch->outer_s +
                   sch->every * sch->straggle_s);
}

double wan_steps_needed(double efficiency, double compute_s, double sync_s)
{
    if (efficiency >= 1)
        return sync_s > 0 ? INFINITY : 1;
    return fmax(1, ceil(sync_s / (compute_s * (1 / efficiency - 1)) - 1e-9));
}

double wan_rate_needed(const struct wan_schedule *sch, double utilisation, double compute_s,
                       double bytes)
{
    double slack = sch->every * compute_s / sch->fragments * (1 / utilisation - 1);
    return bytes / sch->fragments / (slack + (2.0 / 3 + sch->overlap) * compute_s);
}
