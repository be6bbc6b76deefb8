/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks without MPI: processes forked by a test, with a host whose barrier and bcast go through
 * shared memory.
 */
#pragma once

#include "workload.h"

#include <stdbool.h>
#include <sys/types.h>

#define TEAM_MAX 16

/* What a rank does; its exit status, 0 when all was well. It may print to stderr why not. */
typedef int team_body(const struct wl_host *host, void *arg);

/* Runs `ranks` processes on `nodes` nodes, each killed after timeout_s. What became of each goes to
 * exits[] (NULL: not wanted): its status, or minus the signal that ended it. True: all ended with
 * 0. */
bool team_run(int ranks, int nodes, unsigned timeout_s, team_body *body, void *arg, int *exits);
