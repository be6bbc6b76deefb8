/* SPDX-License-Identifier: Apache-2.0
 *
 * Private header of sync_poll.c and sync_fail.c.
 */
#pragma once

#include "wan_sync/sync/sync_piece.h"

enum phase { IDLE, INWARD, EXCHANGE, OUTWARD, TAIL };

struct sync {
    struct sync_parts parts;
    int me;    /* member; -1: no part in the exchange */
    int64_t n; /* fragments */
    struct piece *piece;
    int64_t *queue; /* ring of n + 1 */
    int64_t head, tail;
    enum phase phase;
    uint64_t began_ns, moved_ns, events, outward_events, sent_before_B;
    struct sync_totals totals;
    char why[256];
};

/* Each writes why[] and returns false. */
bool sync_failed(struct sync *s, const char *why);
bool sync_mpi_failed(struct sync *s, const char *what, int rc);
/* True when nothing has moved for longer than the timeout; why[] then names the awaited rank. */
bool sync_stalls(struct sync *s);
