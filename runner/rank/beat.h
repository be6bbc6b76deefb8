/* SPDX-License-Identifier: Apache-2.0
 *
 * The page that the measuring process shares with its shim. The child writes it, the shim reads it
 * (except `stop`). After a crash a text may be half written, which only affects a message.
 */
#pragma once

#include "plan/plan.h"

#include <stdatomic.h>
#include <stdint.h>

struct beat {
    _Atomic uint64_t step_ns;     /* CLOCK_MONOTONIC, start of the step */
    _Atomic uint64_t deadline_ns; /* CLOCK_MONOTONIC; the shim then kills the child; 0: none */
    _Atomic uint32_t waiting;     /* the child waits for other ranks */
    _Atomic uint32_t stop;        /* set by the shim on SIGUSR1: finish the block and exit */
    _Atomic uint32_t block;
    _Atomic uint32_t groups_done, groups;
    _Atomic uint32_t copy;
    _Atomic uint64_t half_width_ppm;
    _Atomic uint64_t left_ms;
    char phase[16]; /* init, open, prepare, warmup, sample, verify, record, release, close, done */
    char cell[PLAN_ID], group[PLAN_ID];
    char config[64];
    char error[512]; /* why the child exits with an error */
    char said[256];  /* why its sample failed; set until the other ranks know */
    char status[16]; /* at the end: complete, interrupted, hang, lost */
    char lost[512];  /* hosts that cannot be reached, with a space after each; lost_B are whole */
    _Atomic uint32_t lost_B;
};

/* Maps a page shared with child processes; NULL: no memory. */
struct beat *beat_map(void);

/* The child begins a step with this deadline. */
void beat_step(struct beat *b, const char *phase, double seconds);
/* Sets the current cell; NULL: none. */
void beat_cell(struct beat *b, const struct cell *cell, int copy);
/* Adds a host that cannot be reached. One thread calls it. */
void beat_lost(struct beat *b, const char *host);
