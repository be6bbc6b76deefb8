/* SPDX-License-Identifier: Apache-2.0
 *
 * A lower bound of the time of an all-reduce, for any algorithm.
 *
 * The whole vector of a site leaves it and reaches all others, and each site receives as much: D at
 * the rate of its end, and the way to the site that is farthest from it. All sites together send and
 * receive 2D(S-1) at least (the bound of a ring if sites are equal: each 2D(S-1)/S); the last of
 * these bytes has to reach any other site, so only the shortest delay is certain.
 */
#pragma once

#include "wan/net.h"

/* far_s[n]: the delay from a site to the one that is farthest from it, on the fastest way, which may
 * lead through other sites; nearest_s: the shortest between any two. */
double wan_bound_s(const struct wan_net *net, double bytes, const double *far_s, double nearest_s);

/* For any algorithm, number of streams and congestion control. Uses the rates of the sites, and the
 * links' where they are less together. */
double wan_map_bound_s(const struct wan_map *m, double bytes);
