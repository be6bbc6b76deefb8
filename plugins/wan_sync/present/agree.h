/* SPDX-License-Identifier: Apache-2.0
 *
 * The agreement of the ranks on whose gradients are in a sum, while ranks are lost and return. It has
 * no sockets and no clock: words go in and come out, in any order, late, twice or never.
 *
 * The ranks make one decision after the other, the same on every rank. View v has a set of ranks,
 * which exchange their gradients for one synchronisation (a round). Its decision is
 *   commit    the sum over the set counts; view v + 1 is the next round, with the same set
 *   or a set  the sum does not count; view v + 1 is the same round again, among that set
 * Every decision is one run of Paxos (Lamport 1998), and all ranks vote, absent ones too. Ballot 1
 * can only be for commit, so a rank that has the whole sum votes for it unasked, and it is decided
 * once all of the set have. Without a fault a round thus ends one delay after the sum. A rank that
 * misses another of the set starts a higher ballot, which a majority decides: it asks what each
 * voted for, and proposes again what may be decided; where nothing can be, the largest set of ranks
 * that all hear each other.
 *
 * Safe: two majorities share a rank, and so do a majority and a set. So a view has one decision, and
 * all ranks that use a sum of a round use the sum over the same set. A set is a majority of all
 * ranks, so a minority does not go on, nor do two halves. A rank that does not know the decision uses
 * no sum; it learns it from the first word of a later view. Not safe for a process that was started
 * again, because it has forgotten its votes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGREE_RANKS_MOST 64
#define AGREE_STEP_S 0.25 /* between the first rank that may propose and the second */

typedef uint64_t rank_set; /* bit r: rank r */
/* Empty for no rank, -1. */
static inline rank_set rank_bit(int rank)
{
    return rank < 0 ? 0 : (rank_set)1 << rank;
}
static inline bool rank_in(rank_set s, int rank)
{
    return (s & rank_bit(rank)) != 0;
}
static inline int ranks_in(rank_set s)
{
    return __builtin_popcountll(s);
}

enum agree_phase { AGREE_QUIET, AGREE_ASKS, AGREE_PROPOSES };
#define AGREE_COMMIT 0 /* as a value; others are sets */

/* All that a rank knows. It sends its word again and again; the newest replaces the others. */
struct agree_word {
    uint64_t count;            /* of this rank's words */
    uint64_t view, round;      /* of the next decision */
    rank_set set;              /* of the view */
    uint64_t since, committed; /* views: the first with this set; the last that was committed */
    uint64_t promised, voted;  /* ballots */
    uint64_t value;            /* what it voted for */
    uint64_t ballot, proposal; /* its own */
    rank_set hears;            /* ranks that it hears, itself too */
    uint64_t turn;             /* of the caller, see agree_turn() */
    uint16_t phase;
    bool began, has_sum; /* its exchange of this view */
    bool out;            /* takes no part in this turn */
    bool used;           /* used a sum in this turn */
    uint8_t unused[2];
};
_Static_assert(sizeof(struct agree_word) == 13 * 8 + 8, "a word has no holes");

struct agree {
    int me, ranks;
    struct agree_word mine;
    struct agree_word of[AGREE_RANKS_MOST]; /* the newest of each */
    rank_set part;    /* those that it hears and that take part in this turn */
    uint64_t highest; /* ballot of this view */
    double since_s;   /* when the ballot, or the wish for one, began; negative: none */
    double wait_s;    /* before this rank's next ballot */
    unsigned losses;  /* ballots of this view that came to nothing */
    bool yields;      /* it promised a ballot of another rank */
    bool changed;     /* something to tell */
};

void agree_open(struct agree *a, int me, int ranks);
/* The caller's next synchronisation, or another try of the last. A turn has the same number on all
 * ranks: one that was away goes on with the number of the others. */
void agree_turn(struct agree *a);
/* Tell what this rank did: it began its exchange; it has the whole sum of that view; it used a sum that
 * was committed; it takes no part in this turn. */
void agree_did(struct agree *a, bool *what); /* &a->mine.began, .used or .out */
void agree_has_sum(struct agree *a, uint64_t view);
void agree_hear(struct agree *a, int from, const struct agree_word *w);
/* Call it often. hears: the ranks heard of late. */
void agree_tick(struct agree *a, double now_s, rank_set hears);
/* Ranks that could be taken into the set: they and all of it hear each other. */
rank_set agree_returning(const struct agree *a);
bool agree_leads(const struct agree *a); /* the first rank of the set that this one hears */
/* True: this rank gets no sum in this turn any more. Another rank has used one, the set has begun
 * without this rank, or no majority takes part. */
bool agree_is_over(const struct agree *a);
bool agree_majority(const struct agree *a, rank_set s);
