/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the training step in the sequence of calls of one communicator, and follows it.
 *
 * A call is a word: its collective and bytes. The step is a period of the words. A short period may
 * hold for long without being the step: FSDP repeats the same sizes layer by layer. So
 *   - a period is believed when it held for 4 periods and at least 64 calls, or 256 when it has up
 *     to 4 calls, as the layers of FSDP have;
 *   - when the sequence has left the step 3, 6, 12, ... times, a longer period that explains what
 *     happened there takes its place: at most 16 times as long, or of any length when
 *     the shorter has up to 4 calls;
 *   - calls between steps (evaluation, logging) only interrupt: the step is followed again once it
 *     passed by whole. Another sequence takes its place when it held for longer than the step did
 *     (or for 32768 calls).
 * A number of calls that the user gives is believed when it held for two periods.
 *
 * Everything follows from the words alone: all ranks of a communicator see the same ones, and come
 * to the same step at the same call.
 */
#ifndef GS_TUNER_SEQUENCE_H
#define GS_TUNER_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum seq_event {
    SEQ_AWAY,   /* no step is known, or the calls are outside of it */
    SEQ_FOUND,  /* as SEQ_AWAY; from the next call on a step is followed, one not known before */
    SEQ_LOST,   /* as SEQ_AWAY; the call before was inside of the step */
    SEQ_STEP,   /* the first call of a step */
    SEQ_INSIDE, /* another call of a step */
};

struct sequence {
    size_t told;       /* calls a step; 0: to be found */
    uint64_t *past;    /* the latest words, oldest first */
    size_t n, cap;     /* of past */
    uint64_t *pattern; /* the words of a step */
    uint32_t *back;    /* Knuth, Morris and Pratt's table for it */
    size_t period;     /* words of the pattern; 0: none yet */
    size_t at;         /* following: the next word; away: how much of the pattern was just seen */
    bool following;
    uint64_t away;   /* calls since the step was left, or since the beginning */
    uint64_t look;   /* the next period is looked for when `away` gets there */
    uint64_t held;   /* most calls for which the pattern held without a break */
    uint64_t run;    /* calls since it was found or came back */
    unsigned breaks; /* since it was found */
};

void seq_begin(struct sequence *s, size_t told);
void seq_end(struct sequence *s);
enum seq_event seq_call(struct sequence *s, int func, size_t bytes);

static inline uint64_t seq_word(int func, size_t bytes)
{
    return (uint64_t)bytes << 4 | ((uint64_t)func & 15);
}

#endif
