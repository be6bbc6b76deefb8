/* SPDX-License-Identifier: Apache-2.0
 *
 * What the runner lends a plugin: struct wl_host over MPI, and where a plugin's words go.
 */
#ifndef GS_HOST_API_H
#define GS_HOST_API_H

#include "rank/report.h"
#include "rank/team.h"
#include "workload.h"

struct host_api {
    struct wl_host wl; /* its ctx is this struct, which therefore never moves */
    const struct team *team;
    struct report *report; /* gets the notes; NULL: nobody does */
    const char *cell;      /* that notes are about; "" for the process */
    int copy;
    char why[256]; /* the last words of fail(); "" when there were none */
};

void host_api_begin(struct host_api *l, const struct team *team, struct report *report,
                    uint64_t seed);

#endif
