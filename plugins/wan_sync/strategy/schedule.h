/* SPDX-License-Identifier: Apache-2.0
 *
 * A schedule is one all-reduce as data: the steps of one member, block by block, and their order.
 * Strategies (strategies.h) write schedules; the engine (engine.h) runs them over any link. A
 * schedule does not depend on a network, so tests need none.
 *
 * The vector is cut into parts, one per member, and parts into blocks, the same on every member.
 * The k-th block that A sends to B is the k-th that B receives from A: only this order identifies a
 * block.
 *
 * A block of the vector holds numbers, or their encoding (wire.h), which is never longer. Steps:
 *   PACK    encode the numbers in place
 *   SEND    send the encoding
 *   RECV    receive an encoding into the block
 *   ADD     receive an encoding into a slot and add its numbers to the block
 *   HOLD    receive an encoding into a slot, where it stays until the SUM after it
 *   SUM     decode the block in place and add what the HOLDs before it received, one of each peer,
 *           in the order of the members, so that all get the same bits
 *   UNPACK  decode in place
 * put_*() derives the edges between steps: a block is not overwritten before it was sent, nor sent
 * before it is complete, and additions keep the order of the calls.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEP_NONE UINT32_MAX

enum step_kind { STEP_PACK, STEP_UNPACK, STEP_SEND, STEP_RECV, STEP_ADD, STEP_HOLD, STEP_SUM };

struct step {
    enum step_kind kind;
    int peer;        /* member; SEND, RECV, ADD, HOLD */
    uint32_t seq;    /* number of this send to, or receipt from, that peer */
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
struct lane {
    uint32_t *send, *take;
    uint32_t sends, takes;
    int take_place; /* index among the peers to receive from */
};

struct schedule {
    struct schedule_shape shape;
    int peers; /* maximum peers that a member sends to, or receives from; same on every member */
    struct step *step;
    uint32_t n, cap;
    uint32_t *from, *to; /* edges */
    size_t edges, edge_cap;
    /* Set by schedule_close(): the steps next[first_next[i]..first_next[i+1]) wait for step i,
     * which itself waits for waits[i] steps. */
    uint32_t *first_next, *next, *waits;
    struct lane *lane; /* by member */
    size_t largest;    /* elements of the largest block */
    /* Used while the schedule is written. Part k has the blocks [part[k], part[k+1]), block b the
     * elements [start[b], start[b+1]). */
    uint32_t *part, blocks;
    size_t *start;
    struct block *block;
    uint32_t *reader; /* for a step that reads a block: the previous reader */
    bool no_memory;
};

/* Cuts the vector into `parts` parts, at most one per member; shape->share has one share per
 * part. */
bool schedule_open(struct schedule *s, const struct schedule_shape *shape, int parts, int peers);
void put_send(struct schedule *s, uint32_t block, int peer);
void put_recv(struct schedule *s, uint32_t block, int peer);
void put_add(struct schedule *s, uint32_t block, int peer);
/* Receives the block from every other member and sums. */
void put_sum(struct schedule *s, uint32_t block);
/* Adds the UNPACK steps and the tables of the engine. False: no memory. Call schedule_free() in
 * both cases. */
bool schedule_close(struct schedule *s);
void schedule_free(struct schedule *s);
