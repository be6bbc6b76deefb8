/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/bound.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>

static double ends_bound(const double *rate_Bps, size_t n, double bytes, const double *far_s,
                         double nearest_s)
{
    double slowest_s = 0, sum_Bps = 0;
    for (size_t i = 0; i < n; i++) {
        slowest_s = fmax(slowest_s, bytes / rate_Bps[i] + far_s[i]);
        sum_Bps += rate_Bps[i];
    }
    return fmax(slowest_s, 2 * (double)(n - 1) * bytes / sum_Bps + nearest_s);
}

double wan_bound_s(const struct wan_net *net, double bytes, const double *far_s, double nearest_s)
{
    if (net->n < 2)
        return 0;
    return fmax(ends_bound(net->up_Bps, net->n, bytes, far_s, nearest_s),
                ends_bound(net->down_Bps, net->n, bytes, far_s, nearest_s));
}

/* ---- of a map ---- */

/* All that a row's links carry in one direction. */
static double links_Bps(const struct wan_map *m, size_t row, bool out)
{
    double sum = 0;
    for (size_t k = 0; k < m->n; k++) {
        struct wan_link l = out ? wan_map_link(m, row, k) : wan_map_link(m, k, row);
        sum += k == row ? 0 : wan_link_Bps(&l, 1);
    }
    return sum;
}

/* The delays of the fastest ways from row to row (Floyd and Warshall). */
static void fastest_ways(const struct wan_map *m, double *way_s)
{
    size_t n = m->n;
    for (size_t i = 0; i < n * n; i++)
        way_s[i] = i / n == i % n ? INFINITY : wan_map_link(m, i / n, i % n).rtt_s / 2;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n * n; i++)
            way_s[i] = fmin(way_s[i], way_s[i / n * n + k] + way_s[k * n + i % n]);
}

/* By row; of two directions, the faster one. The caller frees it. */
static double *farthest(const struct wan_map *m, double nearest_s)
{
    size_t n = m->n;
    double *far_s = xcalloc(n + 1, sizeof *far_s);
    AUTO_FREE double *way_s = xcalloc(n * n + 1, sizeof *way_s);
    fastest_ways(m, way_s);
    for (size_t i = 0; i < n; i++) {
        far_s[i] = nearest_s;
        for (size_t k = 0; k < n; k++)
            if (k != i)
                far_s[i] = fmax(far_s[i], fmin(way_s[i * n + k], way_s[k * n + i]));
    }
    return far_s;
}

double wan_map_bound_s(const struct wan_map *m, double bytes)
{
    struct wan_map any = *m;
    struct wan_view v;
    double payload = m->common.mtu_B > 0 ? wan_goodput(m->common.mtu_B) : 1;
    any.any_transport = true;
    wan_view_make(&v, &any, WAN_DIRECT, 1);
    double nearest_s = m->n > 1 ? v.nearest_rtt_s / 2 : 0;
    AUTO_FREE double *of_row = farthest(m, nearest_s), *far_s = xcalloc(m->n + 1, sizeof *far_s);
    for (size_t r = 0; r < m->n; r++) {
        double up = fmin(m->sites[r].up_Bps * payload, links_Bps(&any, r, true));
        double down = fmin(m->sites[r].down_Bps * payload, links_Bps(&any, r, false));
        v.up[r] = up;
        v.down[r] = down;
        far_s[r] = of_row[r];
    }
    double s = wan_bound_s(&v.net, bytes, far_s, nearest_s);
    wan_view_free(&v);
    return s;
}
