/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/model.h"

#include <math.h>

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
    enum { SEGMENTS_PER_ACK = 2 };
    return (mtu_B - WAN_HEADERS_B) / (mtu_B + WAN_HEADERS_B / SEGMENTS_PER_ACK);
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
    double late_s = sch->fragments * fmax(0, fragment_s - sch->hidden * compute_s);
    bool several = sch->wire_s > 0 && sch->hidden * sch->fragments > sch->every;
    double each_s = several ? fmin(sch->wire_s, fragment_s) : fragment_s;
    return fmax(late_s, sch->fragments * each_s - sch->every * compute_s);
}

double wan_efficiency(const struct wan_schedule *sch, double compute_s, double fragment_s)
{
    double busy = sch->every * compute_s;
    return busy / (busy + wan_exposed_s(sch, compute_s, fragment_s) + sch->outer_s +
                   sch->every * sch->straggle_s);
}
