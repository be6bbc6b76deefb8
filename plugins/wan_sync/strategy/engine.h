/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs schedules over a link, one at a time, without a thread of its own: engine_poll() does what
 * can be done and returns.
 *
 * From each peer the next `window` blocks are expected at any time, and to each no more than that
 * are under way: a link never holds what its receiver does not wait for, and memory is bounded.
 * With both ends at the same window, and a link that begins blocks in the order of send(), the
 * lowest block that a member lacks is always among those expected and never behind one that is not,
 * so that nothing can wait in a circle.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "wan_sync/strategy/schedule.h"
#include "wan_sync/transport/link.h"
#include "wan_sync/wire/wire.h"

#include <stdint.h>

struct engine;

#define ENGINE_WINDOW_LEAST 2

/* What a schedule needs of the engine. */
struct engine_need {
    size_t slot_B;   /* of one block aside */
    uint32_t window; /* the same on every member, ENGINE_WINDOW_LEAST or more */
    size_t slots_B;  /* in all */
};
/* budget_B: for slots, in all; the least window is taken whatever it says. */
struct engine_need engine_need(const struct schedule *s, enum wire wire, size_t budget_B);

/* NULL: no memory. The link is the caller's and outlives it. */
struct engine *engine_open(struct wan_link *link);
void engine_close(struct engine *e);
/* Before the close of a link that failed and may still read and write what it was given (MPI ends
 * no message that both ends have begun): that memory is left to it. */
void engine_leave_slots(struct engine *e);

/* One all-reduce. The caller keeps all of it until engine_poll() is done with it. */
struct engine_task {
    const struct schedule *schedule;
    const int *rank_of; /* by member: the link's peer */
    float *data;
    enum wire wire;
    struct engine_need need;
};

/* Nothing else may be under way. -1: no memory. */
int engine_start(struct engine *e, const struct engine_task *task);
/* In place of a start, where this rank has no part in what others run: blocks are named by the runs
 * that every rank counts. */
void engine_pass(struct engine *e);

enum engine_state {
    ENGINE_FAILED = -1, /* the link's why[] says it */
    ENGINE_BUSY,
    ENGINE_SUMMED, /* the sum is there; the link still reads the buffer */
    ENGINE_IDLE
};
/* Goes on for at most timeout_s; returns earlier with ENGINE_SUMMED and ENGINE_IDLE. */
enum engine_state engine_poll(struct engine *e, double timeout_s);

/* A rank that a block is awaited from, or that does not take one; -1: none. */
int engine_awaits(const struct engine *e);
uint64_t
engine_events(const struct engine *e); /* since engine_open(): it grows while things move */
uint64_t engine_sent_B(const struct engine *e); /* payload, since engine_open() */

#endif
