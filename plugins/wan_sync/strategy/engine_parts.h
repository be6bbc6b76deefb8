/* SPDX-License-Identifier: Apache-2.0
 *
 * Private header of engine_poll.c, engine_memory.c and engine_work.c.
 */
#ifndef ENGINE_PARTS_H
#define ENGINE_PARTS_H

#include "wan_sync/strategy/engine.h"

/* Where a step is, beside schedule.waits. */
enum { READY = 1, QUEUED = 2, POSTED = 4, RECEIVED = 8, DONE = 16 };

struct progress {                /* of a lane */
    uint32_t send_low, sent_low; /* the first not posted; not sent */
    uint32_t take_low;           /* the first not done */
    uint32_t under_way;          /* sends */
};

struct engine {
    struct wan_link *link;
    const struct engine_task *task;
    uint64_t run, events, sent_B;
    uint32_t left, sums_left; /* steps; those that are no sends */
    uint32_t *waits;
    unsigned char *state;
    uint32_t *work, work_head, work_tail; /* ready to be done here: at most every step once */
    struct progress *at;                  /* by member */
    int *member_of;                       /* by rank, as far as `ranks` */
    int ranks, members_cap;
    uint32_t steps_cap;
    char *slots; /* [peers][window] to take into; of `keeps`, as many to send from; one more */
    size_t slots_cap;
};

/* Reserves memory for the task and maps ranks to members. False: no memory. */
bool engine_reserve(struct engine *e, const struct engine_task *t);

/* Where a block lies that is received aside; one that is sent from aside; one while it is encoded.
 */
char *engine_take_slot(const struct engine *e, const struct step *t);
char *engine_keep_slot(const struct engine *e, const struct step *t);
char *engine_spare_slot(const struct engine *e);

/* Of a PACK, UNPACK or ADD: the arithmetic. */
void engine_work(const struct engine *e, const struct step *t);

#endif
