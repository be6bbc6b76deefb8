/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides how an attempt ended, from its control lines and the exit status of its launcher.
 */
#pragma once

#include "launch/control.h"
#include "launch/cut.h"
#include "plan/plan.h"

#include <stdbool.h>

enum attempt_end { ATTEMPT_COMPLETE, ATTEMPT_INTERRUPTED, ATTEMPT_DIED, ATTEMPT_REFUSED };

struct attempt {
    int launch, attempt;
    double start_by_s; /* longest time to the first cell; 0: as long as the ranks allow */
    double started_s;  /* it took so long; 0: none has begun */
    enum attempt_end end;
    int code;           /* REFUSED: exit code */
    char kind[16];      /* DIED: crash, hang, lost */
    char why[512];      /* DIED, REFUSED: reason, for the message */
    char cell[PLAN_ID]; /* DIED: cell in which it died; "" before the first */
    bool cut;           /* DIED: by the network; another attempt would wait for it in MPI_Init */
    char log[256];      /* file name of its log in the run folder; "" if there is none */
};

/* What the supervisor observed of an attempt. */
struct attempt_evidence {
    struct control beat;                                 /* the last of rank 0 */
    struct control dead, error, done;                    /* the first of each */
    bool heard, has_beat, has_dead, has_error, has_done; /* heard: any control line */
    bool interrupted;                                    /* this process told the ranks to stop */
    struct cut cut;    /* hosts that others have lost; n 0: none */
    char given_up[64]; /* why the supervisor ended it; "": it did not */
    char launcher[32]; /* program name */
    int status;        /* its wait status */
    const char *log_path;
};

/* Sets a->end and its details. If no rank reported a death, e->dead gets one, with rank -1. */
void attempt_verdict(struct attempt *a, struct attempt_evidence *e);
