/* SPDX-License-Identifier: Apache-2.0
 *
 * Links of one process that listen on the same port share its socket: cells that differ in their
 * links alternate, and one port is open at the site. A connection may come to the socket while
 * another link is driven than the one that it is for; its first message says which.
 */
#pragma once

#include "wan_sync/transport/tcp_hello.h"

/* Sets l->listener, and *bound to its port; port 0: any free port, of its own. 0, or -1 and why. */
int tcp_door_open(struct tcp_link *l, bool loopback, int port, uint16_t *bound, char *why,
                  size_t size);
void tcp_door_close(struct tcp_link *l);
void tcp_door_accept(struct tcp_link *l);
/* To the link that the call of this hello is for. */
void tcp_door_hand_over(struct tcp_hello *h);
