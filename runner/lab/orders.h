/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands that change the emulated network while it runs. WHERE is a site, the two directions
 * A-B of a link, or one direction A>B:
 *
 *   rate WHERE 100Mbit/s   sets the rate: of a site's uplink and downlink, or of the link; 10% is
 *                          relative to the config
 *   loss WHERE 1%          sets the loss: of what a site sends, or of the link
 *   down WHERE, up WHERE   drops every packet of the site or link, until up
 *   stall WHERE, go WHERE  holds every packet of the site or link, until go
 *   disturb on, off        jitter, reordering and traffic of others; on while the command runs
 *   reset                  restores the values of the config, except for disturb
 *   stats                  {"packets": ...}: counts since the start
 */
#pragma once

#include "lab/relay.h"

/* Returns "ok", a JSON object, or "error: TEXT"; the caller frees it. */
char *orders_obey(struct relay *r, const char *line);
