/* SPDX-License-Identifier: Apache-2.0
 *
 * The slots of a group during its measurement: created, dropped after a failure, and released.
 */
#pragma once

#include "rank/session.h"
#include "rank/visit.h"

struct grouping {
    struct session *session;
    struct visit *visit;
    const struct group *group;
    size_t index;
    struct slot *slots;
    size_t n;
    size_t *order; /* slot indices in preparation order, then in the visit order of a block */
    int block;
    int late; /* blocks in a row with a late emulated network */
    uint64_t began_ns;
};

/* Creates two slots for the baseline of a comparison, one for each other cell, and none for a cell
 * that this launch has given up. */
void grouping_begin(struct grouping *g, struct session *r, struct visit *v, size_t index);
void grouping_end(struct grouping *g);
/* Prepares the slots, in another order in each launch. Collective; GO_ON, or HUNG. */
enum course grouping_prepare(struct grouping *g);
size_t grouping_living(const struct grouping *g);

/* Releases the slots, last to first, in the same order on every rank. */
void grouping_release(struct grouping *g);

/* The slot's result on this rank is `mine`, and on some rank it is a bad one: records that rank's
 * words as a failure of this kind (a skip is a skip), and drops the cell with all its copies.
 * Collective; GO_ON, or HUNG. */
enum course grouping_lose(struct grouping *g, struct slot *s, const char *phase,
                          enum call_result mine, const char *kind);
