/* SPDX-License-Identifier: Apache-2.0
 *
 * A cell of wan_sync, from its recorded parameters.
 */
#pragma once

#include "common/wan_model.h"
#include "record/recorded.h"
#include "wan/net.h"

#define WAN_CELL_GROUP 128 /* values that share a scale on the wire below 16 bits */

#define WAN_CELL_AUTO (-1)
#define WAN_CELL_GIVEN (-2)

struct wan_cell {
    char strategy[32], transport[16], wire[16];
    int congestion; /* enum wan_congestion, WAN_CELL_AUTO, or that of the network */
    int model;      /* enum wan_strategy; WAN_STRATEGIES: none */
    double bits, compute_s, block_B;
    int64_t streams, every, fragments, overlap, accumulate, tokens, target_tokens;
    bool strict, trains, equal_shares;
};

struct wan_cell wan_cell_read(const struct rec_cell *c);
/* How its blocks are sent. loss: the greatest of the map. given: the congestion control that
 * congestion=auto begins with, and leaves only after some losses. */
struct wan_carrier wan_cell_carrier(const struct wan_cell *s, const struct wan_map *map,
                                    double loss, int given);
/* The share of the uplink's rate that its transport uses. */
double wan_cell_headroom(const struct wan_cell *s);
