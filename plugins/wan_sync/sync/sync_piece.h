/* SPDX-License-Identifier: Apache-2.0
 *
 * This rank's part in one fragment: the sum inside its site, the exchange between sites, and the
 * broadcast inside the site. Each is a schedule with its task.
 */
#pragma once

#include "wan_sync/sync/sync.h"

enum way { WAY_INWARD, WAY_EXCHANGE, WAY_OUTWARD, WAYS };

struct piece {
    struct schedule schedule[WAYS];
    struct engine_task task[WAYS];
    bool pending;
};

/* me: this rank's member number in the exchange; -1: none. False: no memory. Call piece_free() in
 * both cases. */
bool piece_make(struct piece *p, const struct sync_parts *parts, int me, int64_t fragment);
void piece_free(struct piece *p);
