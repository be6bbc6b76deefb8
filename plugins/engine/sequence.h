/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the training step in the sequence of a lane's calls, and follows it.
 *
 * Each call is a word: its collective, its communicator and its bytes. A step is a period of these words. A
 * short period may hold for long without being a step: FSDP repeats the same sizes layer by layer. So:
 *   - A period is accepted once it has held for 4 periods and at least 64 calls (256 calls if it has up
 *     to 4, as a layer has). If calls take long, 3 periods and 2 s are enough.
 *   - After the sequence has left the step 3, 6, 12, ... times, a longer period that explains those
 *     calls too replaces it. It is at most 16 times as long, or of any length if the shorter one has
 *     up to 4 calls.
 *   - A period that is, for four fifths, a few calls repeated, is a step some times and the calls of a log. Up to 4
 *     calls may be a layer instead, unless they are of one kind and of different bytes, as the buckets of gradients are.
 *   - Calls between steps (evaluation, logging) only interrupt. The step is followed again after it
 *     has passed once from end to end. Another sequence replaces the step once it has held for longer
 *     than the step did, or for 32768 calls.
 *   - A number of calls that is given is accepted once it has held for two periods and 64 calls, or as above if calls
 *     take long.
 *   - A step may have some equal calls. So the beginnings of a period of up to 4 calls are timed: if every m-th comes
 *     after a pause, m of them (up to 8) are a step.
 * A step never begins inside a group of calls.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum seq_event {
    SEQ_AWAY,   /* no step is known, or the call is outside of it */
    SEQ_FOUND,  /* as SEQ_AWAY; a new step is followed from the next call on */
    SEQ_LOST,   /* as SEQ_AWAY; the call before was in a step */
    SEQ_STEP,   /* the first call of a step */
    SEQ_INSIDE, /* another call of a step */
};

struct sequence {
    size_t told;                      /* calls per step, from the user; 0: to be found */
    uint64_t bytes_least, bytes_most; /* of a step to be found; most 0: any number */
    uint64_t *past;                   /* the latest words, oldest first */
    size_t n, cap;                    /* of past */
    uint64_t *pattern;                /* the words of a step */
    uint32_t *back;                   /* its failure table (Knuth, Morris and Pratt) */
    size_t period;                    /* words of the pattern; 0: none yet */
    size_t first;                     /* of these, the one that begins a step */
    size_t at; /* following: the next word; else the words of the pattern just seen */
    bool following;
    uint64_t away;     /* calls since the step was left, or since the beginning */
    uint64_t look;     /* search for a period when `away` reaches this */
    uint64_t held;     /* longest run of calls for which the pattern held */
    uint64_t run;      /* calls since it was found or came back */
    unsigned breaks;   /* since it was found */
    unsigned timed;    /* questions whether several periods are a step */
    uint64_t *when_ns; /* of the past words; 0: not timed */
    /* Asked at the same call on all lanes: which period to follow, although it has few calls, since they take
     * long; or how many of its periods are a step. `period` is this lane's proposal, 0: none; returns the common
     * answer. */
    size_t (*agree)(void *ctx, uint64_t call, size_t period);
    void *ctx;
};

/* agree NULL: it is never asked. */
void seq_begin(struct sequence *s, size_t told, size_t (*agree)(void *, uint64_t, size_t),
               void *ctx);
void seq_end(struct sequence *s);
/* comm: a small number of the communicator. inside: not the first call of a group. */
uint64_t seq_word(int func, unsigned comm, size_t bytes, bool inside);
static inline uint64_t seq_bytes(uint64_t word)
{
    return word >> 12;
}
enum seq_event seq_call(struct sequence *s, uint64_t word);
