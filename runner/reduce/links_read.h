/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a recording of wan_links as the links that it measured (wan/links.h).
 */
#pragma once

#include "wan/links.h"

/* GS_OK, or reported: damaged, not of wan_links, or a pair is missing. Names are numbers until the
 * caller sets them. Call links_free in both cases. */
int links_read(struct links *l, const char *dir);
