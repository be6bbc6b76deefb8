/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GS_WAN_NET_CHECK_H
#define GS_WAN_NET_CHECK_H

#include "wan/net.h"

/* The last step of wan_map_read: sorts what was read, fills in rates, finds typical peers, and
 * judges what no single word can say: a rate for each site, each direction said once, nothing
 * faster than light. GS_OK or GS_USAGE, every fault reported. */
int wan_map_check(struct wan_map *m, const struct config *c);

#endif
