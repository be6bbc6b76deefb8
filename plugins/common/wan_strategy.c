/* SPDX-License-Identifier: Apache-2.0 */
#include "common/wan_strategy.h"

#include <math.h>
#include <stdbool.h>

const char *const wan_strategy_names[WAN_RECORDED] = {
    "ring", "direct", "oneshot", "hierarchical", NULL, "recursive_doubling", "rabenseifner"};

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
