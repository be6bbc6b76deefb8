/* SPDX-License-Identifier: Apache-2.0
 *
 * A group while it is measured: its slots are made, lost when something of theirs fails, and
 * released.
 */
#ifndef GS_GROUPING_H
#define GS_GROUPING_H

#include "rank/session.h"
#include "rank/visit.h"

struct grouping {
    struct session *session;
    struct visit *visit;
    const struct group *group;
    size_t index;
    struct slot *slots;
    size_t n;
    size_t *order; /* of preparation, then of a block's visits: indices into slots */
    int block;
    int late; /* blocks in a row in which the lab was */
    uint64_t began_ns;
};

/* Two slots for the baseline of a comparison, one for every other cell; none for those that this
 * launch has given up. */
void grouping_begin(struct grouping *g, struct session *r, struct visit *v, size_t index);
void grouping_end(struct grouping *g);
size_t grouping_living(const struct grouping *g);

/* Last to first, on every rank alike. */
void grouping_release(struct grouping *g);

/* The slot's result on this rank is `mine`, and on some rank it is a bad one: records that rank's
 * words as a failure of this kind (a skip is a skip), and drops the cell with all its copies.
 * Collective; GO_ON, or HUNG. */
enum course grouping_lose(struct grouping *g, struct slot *s, const char *phase,
                          enum call_result mine, const char *kind);

#endif
