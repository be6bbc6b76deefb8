/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys of sites and links. These tables read the config, and `gradsync help` prints them.
 */
#pragma once

#include "workload.h"

extern const char *const wan_congestions[]; /* by enum wan_congestion, then NULL */

/* Each ends with a NULL name. */
extern const struct wl_param wan_site_words[];  /* of a row of [sites]: struct wan_site */
extern const struct wl_param wan_link_words[];  /* of [links], of a pair: struct wan_link */
extern const struct wl_param wan_links_words[]; /* of [links] alone: struct wan_map */
extern const struct wl_param wan_line_words[];  /* of a shared line: struct wan_line */
