/* SPDX-License-Identifier: Apache-2.0
 *
 * The best order of a ring and the best strategy between sites whose links were measured, for
 * wan_sync (strategy=auto, order=rate) and for the model in runner/wan.
 */
#pragma once

#include "common/wan_time.h"

/* [from * n + to]; the diagonal is not read. */
struct wan_matrix {
    size_t n;
    const double *rate_Bps; /* NULL: all are equal */
    const double *rtt_s;
    const struct wan_carrier *carrier; /* for wan_fastest; NULL: bytes are forwarded at once */
};

#define WAN_ORDER_ALL 8 /* up to so many sites every order is tried, beyond it swaps of two */

/* Sorts `order`, n places from 0 to n - 1, into the ring that sums `bytes` soonest; the first stays
 * first. Another order than the given one must be 5% faster: measured links are never equal.
 * Returns its time. */
double wan_ring_order(const struct wan_matrix *m, double bytes, int *order);

/* The strategy that sums `bytes` soonest with a ring in this order; not WAN_HIERARCHICAL, which
 * depends on the ranks inside a site. Fills seconds[WAN_STRATEGIES] if it is not NULL. */
enum wan_strategy wan_fastest(const struct wan_matrix *m, double bytes, const int *order,
                              double *seconds);
