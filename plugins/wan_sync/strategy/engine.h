/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs schedules over a link, one at a time, without a thread of its own: engine_poll() does what
 * can be done and returns.
 *
 * Each rank always expects the next `window` blocks from each peer, and sends at most `window`
 * blocks ahead to each. So a link never holds a block that its receiver does not expect, and memory
 * is bounded. Deadlock is impossible: both ends use the same window, and the link begins blocks in
 * the order of send(). So the lowest missing block is always expected, and never behind one that is
 * not.
 */
#pragma once

#include "wan_sync/strategy/schedule.h"
#include "wan_sync/transport/link.h"
#include "wan_sync/wire/wire.h"

#include <stdint.h>

struct engine;

#define ENGINE_WINDOW_LEAST 2

/* Memory that a schedule needs in the engine. */
struct engine_need {
    size_t slot_B;   /* size of a block slot */
    uint32_t window; /* the same on every member, ENGINE_WINDOW_LEAST or more */
    size_t slots_B;  /* of all slots */
};
/* budget_B: memory for all slots; the window is at least ENGINE_WINDOW_LEAST in any case. */
struct engine_need engine_need(const struct schedule *s, enum wire wire, size_t budget_B);

/* NULL: no memory. The caller owns the link, which must outlive the engine. */
struct engine *engine_open(struct wan_link *link);
void engine_close(struct engine *e);
/* Call it before closing a failed link that may still use its buffers: MPI cannot cancel a message
 * that both ends have begun. The slots are then leaked on purpose. */
void engine_leave_slots(struct engine *e);

/* One all-reduce. All members must stay valid until engine_poll() has finished it. */
struct engine_task {
    const struct schedule *schedule;
    const int *rank_of; /* by member: the link's peer */
    float *data;
    /* Error feedback: what each rounding loses is kept here and added before the next run's, which
     * rounds the same sums. NULL: none. */
    float *residual;
    enum wire wire;
    struct engine_need need;
};

/* No other task may be running. -1: no memory. */
int engine_start(struct engine *e, const struct engine_task *task);
/* Call it instead of engine_start() when this rank has no part in a run of the others. Block names
 * contain the number of the run, which every rank counts. */
void engine_pass(struct engine *e);

enum engine_state {
    ENGINE_FAILED = -1, /* the reason is in why[] of the link */
    ENGINE_BUSY,
    ENGINE_SUMMED, /* the sum is complete; the link still reads the buffer */
    ENGINE_IDLE
};
/* Makes progress for at most timeout_s; returns earlier with ENGINE_SUMMED or ENGINE_IDLE. */
enum engine_state engine_poll(struct engine *e, double timeout_s);

/* A rank that has not sent an expected block, or does not accept one; -1: none. */
int engine_awaits(const struct engine *e);
uint64_t engine_events(const struct engine *e); /* since engine_open(); grows while blocks move */
uint64_t engine_sent_B(const struct engine *e); /* payload, since engine_open() */
