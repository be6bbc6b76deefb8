/* SPDX-License-Identifier: Apache-2.0
 *
 * Private header of engine_poll.c, engine_memory.c and engine_work.c.
 */
#pragma once

#include "wan_sync/strategy/engine.h"

/* State of a step, beside schedule.waits. */
enum { READY = 1, QUEUED = 2, POSTED = 4, RECEIVED = 8, DONE = 16 };

struct progress {                /* of a lane */
    uint32_t send_low, sent_low; /* first send that is not posted; not complete */
    uint32_t take_low;           /* first receipt that is not done */
    uint32_t under_way;          /* sends posted and not complete */
};

struct engine {
    struct wan_link *link;
    const struct engine_task *task;
    uint64_t run, events, sent_B;
    uint32_t left, sums_left; /* steps to do; without sends */
    uint32_t *waits;
    unsigned char *state;
    uint32_t *work; /* ring of steps that this rank can do now; each step once */
    uint32_t work_head, work_tail;
    struct progress *at; /* by member */
    int *member_of;      /* by rank, for the first `ranks` */
    int ranks, members_cap;
    uint32_t steps_cap;
    char *slots; /* [peers][window] to receive into; one spare */
    size_t slots_cap;
};

/* Reserves memory for the task and maps ranks to members. False: no memory. */
bool engine_reserve(struct engine *e, const struct engine_task *t);

/* The slot of a block that is received outside the vector; that is sent from outside it; that is
 * being encoded. */
char *engine_take_slot(const struct engine *e, const struct step *t);
char *engine_spare_slot(const struct engine *e);

/* Does the arithmetic of a PACK, UNPACK, ADD or SUM. */
void engine_work(const struct engine *e, const struct step *t);
