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

#define ROWS_MOST 1000 /* more are not looked at pair by pair */
#define WAYS_MOST 200  /* of more, no ways through other sites are searched */

/* All that a row's links carry in one direction. */
static double links_Bps(const struct wan_map *m, size_t row, bool out)
{
    double sum = m->n_rows > ROWS_MOST ? INFINITY : 0;
    for (size_t k = 0; k < m->n_rows && m->n_rows <= ROWS_MOST; k++) {
        struct wan_link l = out ? wan_map_link(m, row, k) : wan_map_link(m, k, row);
        sum += (double)(m->sites[k].count - (k == row)) * wan_link_Bps(&l, 1);
    }
    return sum;
}

/* The delays of the fastest ways from row to row (Floyd and Warshall). */
static void fastest_ways(const struct wan_map *m, double *way_s)
{
    size_t n = m->n_rows;
    for (size_t i = 0; i < n * n; i++)
        way_s[i] = i / n == i % n && m->sites[i % n].count < 2
                       ? INFINITY
                       : wan_map_link(m, i / n, i % n).rtt_s / 2;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n * n; i++)
            way_s[i] = fmin(way_s[i], way_s[i / n * n + k] + way_s[k * n + i % n]);
}

/* By row; of two directions, the faster one. The caller frees it. */
static double *farthest(const struct wan_map *m, double nearest_s)
{
    size_t n = m->n_rows;
    double *far_s = xcalloc(n + 1, sizeof *far_s);
    AUTO_FREE double *way_s = n > WAYS_MOST ? NULL : xcalloc(n * n + 1, sizeof *way_s);
    if (way_s)
        fastest_ways(m, way_s);
    for (size_t i = 0; i < n; i++) {
        far_s[i] = nearest_s;
        for (size_t k = 0; k < n && way_s; k++)
            if (k != i || m->sites[i].count > 1)
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
    for (size_t r = 0, k = 0; r < m->n_rows; r++) {
        double up = fmin(m->sites[r].up_Bps * payload, links_Bps(&any, r, true));
        double down = fmin(m->sites[r].down_Bps * payload, links_Bps(&any, r, false));
        for (int64_t i = 0; i < m->sites[r].count; i++, k++) {
            v.up[k] = up;
            v.down[k] = down;
            far_s[k] = of_row[r];
        }
    }
    double s = wan_bound_s(&v.net, bytes, far_s, nearest_s);
    wan_view_free(&v);
    return s;
}
