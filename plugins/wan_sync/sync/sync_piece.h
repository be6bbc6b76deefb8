/* SPDX-License-Identifier: Apache-2.0
 *
 * One fragment as this rank takes part in it: what it does inside its site before and after the
 * exchange, and the exchange, each a schedule with its task.
 */
#ifndef SYNC_PIECE_H
#define SYNC_PIECE_H

#include "wan_sync/sync/sync.h"

enum way { WAY_INWARD, WAY_EXCHANGE, WAY_OUTWARD, WAYS };

struct piece {
    struct schedule schedule[WAYS];
    struct engine_task task[WAYS];
    bool pending;
};

/* me: this rank's place in the exchange; -1: none. False: no memory; piece_free() in both cases. */
bool piece_make(struct piece *p, const struct sync_parts *parts, int me, int64_t fragment);
void piece_free(struct piece *p);

#endif
