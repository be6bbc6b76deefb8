/* SPDX-License-Identifier: Apache-2.0
 *
 * All-reduce algorithms: schedules, the strategies that write them, and the engine that runs them.
 *
 * A schedule is one all-reduce as data: the steps of one member, block by block, and their order. It does
 * not depend on a network, so tests need none.
 *
 * The vector is cut into parts, one per member, and parts into blocks, the same on every member.
 * The k-th block that A sends to B is the k-th that B receives from A: only this order identifies a
 * block.
 *
 * A block of the vector holds numbers, or their encoding (wire.h), which is never longer. Steps:
 *   PACK    encode the numbers in place
 *   SEND    send the encoding
 *   RECV    receive an encoding into the block
 *   ADD     receive an encoding and add its numbers to the block
 *   HOLD    receive an encoding, which waits for the SUM after it
 *   SUM     decode the block in place and add what the HOLDs before it received, one of each peer,
 *           in the order of the members, so that all get the same bits
 *   UNPACK  decode in place
 * put_*() derives the edges between steps: a block is not overwritten before it was sent, nor sent
 * before it is complete, and additions keep the order of the calls.
 */
#pragma once

#include "common/wan_model.h"
#include "wan_sync/transport/link.h"
#include "wan_sync/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEP_NONE UINT32_MAX

enum step_kind { STEP_PACK, STEP_UNPACK, STEP_SEND, STEP_RECV, STEP_ADD, STEP_HOLD, STEP_SUM };

struct step {
    enum step_kind kind;
    int peer;        /* member; SEND, RECV, ADD, HOLD */
    uint32_t seq;    /* number of this send to, or receipt from, that peer */
    uint32_t reader; /* while the schedule is written: the previous reader of its block */
    size_t first, n; /* elements */
};

/* The input of a strategy. */
struct schedule_shape {
    int me, members;
    size_t count;        /* elements */
    size_t align;        /* parts and blocks begin at multiples of this */
    size_t block;        /* maximum elements per block */
    size_t least;        /* minimum elements of a block that is cut for pipelining */
    const double *share; /* share of the vector of each member; NULL: equal */
    bool plain;          /* the encoding equals the numbers: no PACK or UNPACK */
};

/* Indices of the steps to and from one peer, in order. */
struct with_peer {
    uint32_t *send, *take;
    uint32_t sends, takes;
};

struct schedule {
    struct schedule_shape shape;
    struct step *step;
    uint32_t n;
    size_t cap;
    /* Set by schedule_close(): the steps next[first_next[i]..first_next[i+1]) wait for step i,
     * which itself waits for waits[i] steps. */
    uint32_t *first_next, *next, *waits;
    struct with_peer *with; /* by member */
    size_t largest;         /* elements of the largest block */
    /* Used while the schedule is written. Part k has the blocks [part[k], part[k+1]), block b the
     * elements [start[b], start[b+1]). */
    uint32_t *part, blocks;
    size_t *start;
    struct block *block;
    struct edge {
        uint32_t from, to;
    } * edge;
    size_t edges, edge_cap;
    bool no_memory;
};

void strategy_free(struct schedule *s);

/* ---- strategies ---- */

/* The strategies: each writes the schedule of one member. With S members, D bytes and L a one-way
 * delay (Thakur, Rabenseifner and Gropp 2005; Patarasuk and Yuan 2009):
 *   ring     2(S-1) rounds between neighbours, 2 D (S-1)/S bytes sent
 *   direct   every member sends each peer the peer's part, adds what it receives, and
 *            sends the sum to all: 2 L; with shares x_i it sends D [1 + (S-2) x_i]
 *   oneshot  everybody's whole vector to everybody: L, D (S-1) bytes; for small vectors
 * All strategies work for any S >= 2 and any count, also below S. */

struct strategy {
    /* False: no memory. strategy_free() in both cases. */
    bool (*make)(struct schedule *s, const struct schedule_shape *shape);
    /* Bounds the error of lossy wires (wire.h): the total number of inputs in all partial sums that
     * are rounded on the way to one element of the sum is linear x S + square x S^2. */
    double linear, square;
};

/* Indexed by enum wan_strategy of the model; WAN_HIERARCHICAL is a ring of leaders. */
extern const struct strategy strategy_of[];

/* ---- the engine ---- */

/* Runs schedules over a link, one at a time, without a thread of its own: strategy_poll() does what
 * can be done and returns.
 *
 * Flow control: a rank may have `ahead_B` bytes of blocks at each peer that this peer has not used yet.
 * The peer says how many it has used whenever that is a quarter of ahead_B more. So memory is bounded,
 * and everything that arrives can be read at once. Deadlock is impossible: the lowest block that a peer
 * misses may always be sent, because blocks that are sent before their turn may take only half of ahead_B. */

struct strategy_engine;

/* NULL: no memory. The caller owns the link, which must outlive the engine. */
struct strategy_engine *strategy_open(struct link *link, int ranks, size_t ahead_B);
void strategy_close(struct strategy_engine *e);

/* One all-reduce. All members must stay valid until strategy_poll() has finished it. */
struct strategy_task {
    const struct schedule *schedule;
    const int *rank_of; /* by member: the link's peer */
    float *data;
    enum wire wire;
};

/* No other task may be running. -1: the reason is in why[] of the link. */
int strategy_start(struct strategy_engine *e, const struct strategy_task *task);
/* Call it instead of strategy_start() when this rank has no part in a run of the others. The ids of
 * blocks contain the number of the run, which every rank counts. */
void strategy_pass(struct strategy_engine *e);

enum strategy_state {
    STRATEGY_FAILED = -1, /* the reason is in why[] of the link */
    STRATEGY_BUSY,
    STRATEGY_SUMMED, /* the sum is complete; the link still reads the buffer */
    STRATEGY_IDLE
};
/* Makes progress for at most timeout_s; returns earlier when a task becomes STRATEGY_SUMMED or
 * STRATEGY_IDLE. */
enum strategy_state strategy_poll(struct strategy_engine *e, double timeout_s);

/* No task is running. */
bool strategy_is_idle(const struct strategy_engine *e);
/* A rank whose block has not come, or that does not take one; -1: none. */
int strategy_awaits(const struct strategy_engine *e);
/* Both since strategy_open(). */
uint64_t strategy_events(const struct strategy_engine *e); /* grows while blocks move */
uint64_t strategy_sent_B(const struct strategy_engine *e); /* payload */
