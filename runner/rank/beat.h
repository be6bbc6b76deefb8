/* SPDX-License-Identifier: Apache-2.0
 *
 * The page that a measuring process shares with the shim that watches it. Written by one process,
 * read by the other; a word of text may be torn by a crash, which costs a letter in a message.
 */
#ifndef GS_BEAT_H
#define GS_BEAT_H

#include "plan/plan.h"

#include <stdatomic.h>
#include <stdint.h>

struct beat {
    _Atomic uint64_t step_ns;     /* CLOCK_MONOTONIC, when the step began */
    _Atomic uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none. Past it the child is killed */
    _Atomic uint32_t waiting;     /* the child is done with its part and waits for other ranks */
    _Atomic uint32_t stop;        /* set by the shim on SIGUSR1: close the block and leave */
    _Atomic uint32_t block;
    _Atomic uint32_t groups_done, groups;
    _Atomic uint32_t copy;
    _Atomic uint64_t half_width_ppm;
    _Atomic uint64_t left_ms;
    char phase[16]; /* init, open, prepare, warmup, sample, verify, record, release, close, done */
    char cell[PLAN_ID], group[PLAN_ID];
    char config[64];
    char error[512]; /* why the child is about to exit with an error */
    char said[256];  /* why its sample failed, while it waits to tell the other ranks */
    char status[16]; /* at the end: complete, interrupted, hang */
};

/* Shared by this process and those it forks; NULL when there is no memory. */
struct beat *beat_map(void);

/* The child begins a step that may take so many seconds. */
void beat_step(struct beat *b, const char *phase, double seconds);
/* Its cell; NULL: none. */
void beat_cell(struct beat *b, const struct cell *cell, int copy);

#endif
