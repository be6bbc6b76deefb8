/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rank does for `gradsync check X.so`: calls everything that the plugin has, for the default
 * cell and for each choice of its configs and modes, and watches what the calls leave behind.
 */
#ifndef GS_CONFORMANCE_H
#define GS_CONFORMANCE_H

#include "launch/dry_run.h"
#include "workload.h"

#define CONFORMANCE_CYCLES 12 /* prepare to release, for leaks */

/* Collective. `host` lends barrier and bcast; its fail and note are not used. Returns GS_OK,
 * GS_FAILED, or GS_CANNOT when open() says WL_SKIP. */
int rank_conformance(const char *path, struct wl_host *host);

#endif
