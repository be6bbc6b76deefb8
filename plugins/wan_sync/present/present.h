/* SPDX-License-Identifier: Apache-2.0
 *
 * A link that goes on without lost ranks (on_loss=continue): a tcp link for the blocks, one for the
 * words of the agreement (agree.h), which is never begun anew, and the agreement. It is driven by
 * next(), like any link. While an exchange is on, next() fails once the set has changed; then the
 * caller begins again among present_set().
 */
#pragma once

#include "wan_sync/present/agree.h"
#include "wan_sync/transport/tcp.h"

/* Collective, as link_tcp_open(): every rank must be there. A rank is lost when it has not answered
 * for options->deadline_s. */
int link_present_open(struct wan_link **out, const struct wl_host *host,
                      const struct link_tcp_options *options, char *why, size_t size);

enum present_end { PRESENT_FAILED = -1, PRESENT_AGAIN, PRESENT_USED };

/* Begins the next synchronisation. */
void present_turn(struct wan_link *link);
/* Waits until the exchange may begin. Returns the ranks that it is between, this one too, and the
 * view; 0: it is over for this rank, which leaves. */
rank_set present_set(struct wan_link *link, uint64_t *view);
/* Call it when this rank has the whole sum. USED: the sum counts. AGAIN: it does not; call
 * present_set() again. */
enum present_end present_commit(struct wan_link *link);
void present_leave(struct wan_link *link);
/* Drives the link between exchanges. False: broken for good, see link->why. */
bool present_poll(struct wan_link *link, double timeout_s);
bool present_broken(const struct wan_link *link);
