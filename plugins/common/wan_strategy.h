/* SPDX-License-Identifier: Apache-2.0
 *
 * Strategies of a synchronisation between sites, for wan_sync and for the model in runner/wan; and
 * the shares of a direct exchange over unequal links.
 */
#pragma once

#include <stddef.h>

enum wan_strategy {
    WAN_RING,
    WAN_DIRECT,
    WAN_ONESHOT,
    WAN_HIERARCHICAL,
    WAN_STRATEGIES, /* of wan_sync; the others are in recordings of wan_sync before 1.3.0 */
    WAN_RECURSIVE_DOUBLING,
    WAN_RABENSEIFNER,
    WAN_RECORDED
};
/* In the order of the enum; NULL after those of wan_sync. */
extern const char *const wan_strategy_names[WAN_RECORDED];

/* Direct exchange with unequal links: site i reduces the share x_i of the gradient. The shares add
 * up to 1 and minimise T = max_i D [1 + (S-2) x_i] / B_i. Returns T (without delays); x may be
 * NULL. */
double wan_shares(const double *up_Bps, size_t n, double bytes, double *x);

/* The same where pairs of sites are limited too: pair_Bps[from * n + to]. The slower direction
 * counts; INFINITY or 0: not limited. Of a site, end_Bps is the lesser of its uplink and its downlink. A
 * pair carries D (x_i + x_j) each way. For up to WAN_SHARES_MOST sites. Returns INFINITY if there is
 * no memory. */
#define WAN_SHARES_MOST 32
double wan_shares_of_pairs(const double *end_Bps, const double *pair_Bps, size_t n, double bytes,
                           double *x);
