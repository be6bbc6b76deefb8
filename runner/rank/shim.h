/* SPDX-License-Identifier: Apache-2.0
 *
 * The process that the launcher starts. It forks the measuring process, watches it, and reports
 * its end on stdout (control.h). It never calls MPI, so a hang of MPI cannot stop it. The two
 * processes share a page, the beat: the child writes it, the shim reads it.
 */
#pragma once

#include "plan/plan.h"

#include <stdatomic.h>
#include <stdint.h>

/* ---- where this rank runs ---- */

/* The rank of this process, from the launcher's environment variables. The shim needs it for its
 * messages, and never calls MPI. */

struct rank_place {
    int rank, ranks, local_rank; /* 0, 1, 0 without a launcher */
    char host[64];
};

void place_find(struct rank_place *p);

/* ---- the page ---- */

/* The page that the measuring process shares with its shim. The child writes it, the shim reads it
 * (except `stop`). After a crash a text may be half written, which only affects a message. */

struct beat {
    _Atomic uint64_t step_ns;     /* CLOCK_MONOTONIC, start of the step */
    _Atomic uint64_t deadline_ns; /* CLOCK_MONOTONIC; the shim then kills the child; 0: none */
    _Atomic uint32_t waiting;     /* the child waits for other ranks */
    _Atomic uint32_t stop;        /* set by the shim on SIGUSR1: finish the block and exit */
    _Atomic uint32_t groups_done, groups;
    _Atomic uint32_t copy;
    char phase[16]; /* init, open, prepare, warmup, sample, verify, record, release, close, done */
    char cell[PLAN_ID];
    char error[512]; /* why the child exits with an error */
    char said[256];  /* why its sample failed; set until the other ranks know */
    char status[16]; /* at the end: complete, interrupted, hang, lost */
    char lost[512];  /* hosts that cannot be reached, with a space after each; lost_B are whole */
    _Atomic uint32_t lost_B;
};

/* The child begins a step with this deadline. */
void beat_step(struct beat *b, const char *phase, double seconds);
/* Sets the current cell; NULL: none. */
void beat_cell(struct beat *b, const struct cell *cell, int copy);

/* ---- the shim ---- */

/* Runs child(arg) in a child process. Returns its exit code, or GS_FAILED if it died. SIGUSR1 tells
 * the child to finish its block and exit; SIGTERM, SIGINT and SIGHUP kill it. The child dies with
 * this process, and this process with the launcher. */
int shim(const struct rank_place *place, struct beat *beat, int (*child)(void *arg), void *arg);
