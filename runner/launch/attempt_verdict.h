/* SPDX-License-Identifier: Apache-2.0
 *
 * How an attempt ended, from what its ranks said and how its launcher went.
 */
#ifndef GS_ATTEMPT_VERDICT_H
#define GS_ATTEMPT_VERDICT_H

#include "launch/control.h"
#include "launch/joined.h"
#include "plan/plan.h"

#include <stdbool.h>

enum attempt_end { ATTEMPT_COMPLETE, ATTEMPT_INTERRUPTED, ATTEMPT_DIED, ATTEMPT_REFUSED };

struct attempt {
    int launch, attempt;
    const struct joined *joined; /* NULL: by a launcher; else this process starts its rank alone */
    enum attempt_end end;
    int code;           /* exit code to give when REFUSED */
    char kind[16];      /* DIED: crash, hang, lost */
    char why[512];      /* DIED, REFUSED: for people */
    char cell[PLAN_ID]; /* DIED: the cell it died in, "" before the first */
    char log[256];      /* name of the attempt's log in the run folder; "" when there is none */
};

/* What was seen of an attempt. */
struct attempt_evidence {
    struct control beat, dead, error, done; /* the last beat of rank 0; the first of the others */
    bool heard, has_beat, has_dead, has_error, has_done; /* heard: any control line at all */
    bool interrupted;                                    /* it was asked to end */
    double silent_s;   /* it was killed after saying nothing for so long; 0: it was not */
    char launcher[32]; /* name of the program */
    int status;        /* its wait status */
    const char *log_path;
};

/* Fills a->end and what goes with it. A death that no rank told is put into e->dead, as rank -1. */
void attempt_verdict(struct attempt *a, struct attempt_evidence *e);

#endif
