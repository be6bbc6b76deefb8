/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rank does for `gradsync check X.so`: calls everything that the plugin has, for the default
 * cell and for each choice of its configs and modes, and watches what the calls leave behind.
 *
 * The report goes to stdout in lines "\x1e" "check RANK KIND TEXT", KIND one of
 *   at      the call that is made next, so that a death or a hang has a place
 *   fault   what is wrong
 *   note    what is worth knowing
 *   end     the exit code, of a rank that came to the end
 */
#ifndef GS_CONFORMANCE_H
#define GS_CONFORMANCE_H

#include "workload.h"

#define CONFORMANCE_MARK                                                                           \
    "\x1e"                                                                                         \
    "check "
#define CONFORMANCE_CYCLES 12 /* prepare to release, for leaks */

/* Collective. `host` lends barrier and bcast; its fail and note are not used. Returns GS_OK,
 * GS_FAILED, or GS_CANNOT when open() says WL_SKIP. */
int rank_conformance(const char *path, struct wl_host *host);

#endif
