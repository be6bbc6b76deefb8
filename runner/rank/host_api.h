/* SPDX-License-Identifier: Apache-2.0
 *
 * The host functions for a plugin (struct wl_host), over MPI, and where its messages go.
 */
#pragma once

#include "rank/report.h"
#include "rank/team.h"
#include "workload.h"

struct host_api {
    struct wl_host wl; /* its ctx is this struct, which must not move */
    const struct team *team;
    struct report *report; /* receives the notes; NULL: they are dropped */
    const char *cell;      /* subject of the notes; "": the process */
    int copy;
    char why[256]; /* text of the last fail(); "": none */
};

/* Whose notes and failures follow. */
void host_api_at(struct host_api *l, const char *cell, int copy);
void host_api_begin(struct host_api *l, const struct team *team, struct report *report,
                    uint64_t seed);
