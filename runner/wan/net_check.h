/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "wan/net.h"

/* The last step of wan_map_read. Sorts the pairs, and fills in rates. Checks
 * that each site has a rate, each direction is set once, and no RTT is faster than light. GS_OK or
 * GS_USAGE; every fault is reported. */
int wan_map_check(struct wan_map *m, const struct config *c);
