/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of `gradsync check X.so` that each rank runs. It calls every function of the plugin, for
 * the default cell and for each choice of its configs and modes, and checks for leaks.
 */
#pragma once

#include "launch/dry_run.h"
#include "workload.h"

#define CONFORMANCE_CYCLES 12 /* prepare-to-release cycles in the leak check */

/* Collective. Uses barrier and bcast of `host`, not its fail and note. Returns GS_OK, GS_FAILED, or
 * GS_CANNOT if open() returns WL_SKIP. */
int rank_conformance(const char *path, struct wl_host *host);
