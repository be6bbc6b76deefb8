/* SPDX-License-Identifier: Apache-2.0
 *
 * A cell of wan_links: its parameters, metrics and streams.
 */
#pragma once

#include "wan_sync/transport/tcp.h"
#include "workload.h"

#define CELL_WARM_S 0.2
#define CELL_STREAMS_EACH 29 /* of a congestion control */
#define CELL_STREAMS_ALL (2 * CELL_STREAMS_EACH)
_Static_assert(CELL_STREAMS_ALL <= LINK_TCP_STREAMS_MAX, "the transport has that many streams");

enum way { IDLE, ALONE, BOTH, ALL };

struct cell {
    int64_t round, streams, port;
    int way, congestion;
    double measure, timeout;
    bool at_once;
    char interface[WL_TEXT_MAX], addresses[WL_TEXT_MAX];
};

enum metric { M_TIME, M_RATE, M_LOSS, M_RTT, M_SPREAD, M_SEGMENT, M_MTU, M_RECEIVED };

#define CELL_UNIT_B (1024.0 * 1024) /* bytes of one iteration */

extern const struct wl_param cell_params[];
extern const struct wl_metric cell_metrics[];
extern const char *const cell_congestions[];

/* The first of its streams in the link. */
int cell_first_stream(const struct cell *c);
enum wl_status cell_describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                             char *why, size_t why_size);
