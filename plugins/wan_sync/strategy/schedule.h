/* SPDX-License-Identifier: Apache-2.0
 *
 * One all-reduce as data: what one member does, block by block, and what must come before what.
 * Strategies (strategies.h) write schedules; the engine (engine.h) runs them over any link. Nothing
 * here knows a network, so that every schedule is tested without one.
 *
 * The vector is cut into parts, one a member, and parts into blocks, the same on every member. The
 * k-th block that A sends to B is the k-th that B takes from A: the order in the schedule is all
 * that names a block.
 *
 * A block of the vector holds numbers, or their encoding (wire.h), which is never longer. Steps:
 *   PACK    the numbers become their encoding, where they lie; `keeps`: in a slot beside, and the
 *           numbers are rounded to what the encoding says
 *   SEND    of the encoding; `keeps`: of the slot of the PACK that it comes after, one for each
 *   RECV    of an encoding, to where the block lies
 *   ADD     an encoding is received aside and its numbers are added to the block's
 *   UNPACK  the encoding becomes numbers again, where it lies
 * All hazards between them are edges that put_*() derives: a block is not overwritten before it was
 * sent, nor sent before it is complete, and additions keep the order in which they were put.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEP_NONE UINT32_MAX

enum step_kind { STEP_PACK, STEP_UNPACK, STEP_SEND, STEP_RECV, STEP_ADD };

struct step {
    enum step_kind kind;
    int peer;        /* member; SEND, RECV, ADD */
    uint32_t seq;    /* its place among the sends to, or the receipts from, that peer */
    uint32_t of;     /* with `keeps`, of a SEND its PACK, of a PACK its SEND, or STEP_NONE */
    size_t first, n; /* elements */
};

/* What a strategy is made for. */
struct schedule_shape {
    int me, members;
    size_t count;        /* elements */
    size_t align;        /* parts and blocks begin at multiples of it */
    size_t block;        /* most elements of a block */
    size_t least;        /* blocks are not made smaller than this, for the sake of pipelining */
    const double *share; /* of the vector that each member owns; NULL: equal */
    bool plain; /* the encoding is the numbers themselves: no PACK, no UNPACK unless it `keeps` */
};

/* Steps to or from one peer, in order: indices. */
struct lane {
    uint32_t *send, *take;
    uint32_t sends, takes;
    int send_place, take_place; /* its number among the peers that are sent to, taken from */
};

struct schedule {
    struct schedule_shape shape;
    int peers; /* that any one member sends to, or takes from, at most: the same on every member */
    bool keeps;
    struct step *step;
    uint32_t n, cap;
    uint32_t *from, *to; /* edges */
    size_t edges, edge_cap;
    /* By schedule_close(): the steps that wait for step i are next[first_next[i]..first_next[i+1]),
     * and it waits for `waits[i]`. */
    uint32_t *first_next, *next, *waits;
    struct lane *lane; /* by member */
    size_t largest;    /* elements of the largest block */
    /* While it is written. Part k is blocks [part[k], part[k+1]), block b elements
     * [start[b], start[b+1]). */
    uint32_t *part, blocks;
    size_t *start;
    struct block *block;
    uint32_t *reader; /* of a step that reads a block: the reader before it */
    bool no_memory;
};

/* Cuts the vector; `parts` of them, not more than members. Shares are those of the parts. */
bool schedule_open(struct schedule *s, const struct schedule_shape *shape, int parts, int peers,
                   bool keeps);
void put_send(struct schedule *s, uint32_t block, int peer);
void put_recv(struct schedule *s, uint32_t block, int peer);
void put_add(struct schedule *s, uint32_t block, int peer);
/* Rounds the block to its encoding, as those that receive it will see it. */
void put_round(struct schedule *s, uint32_t block);
/* Adds what unpacks, and the tables of the engine. False: no memory; free in both cases. */
bool schedule_close(struct schedule *s);
void schedule_free(struct schedule *s);

#endif
