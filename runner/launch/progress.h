/* SPDX-License-Identifier: Apache-2.0
 *
 * How far a run is: one line that is drawn over on a terminal, plain lines elsewhere (one a launch
 * and one each 10 %), nothing when quiet. Everything goes to stderr.
 */
#ifndef GS_PROGRESS_H
#define GS_PROGRESS_H

#include "launch/control.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum progress_style { PROGRESS_NONE, PROGRESS_PLAIN, PROGRESS_TERMINAL };

struct progress {
    const struct plan *plan;
    enum progress_style style;
    int launch, attempt;
    size_t closed;     /* groups closed in this launch before this attempt */
    int tenths;        /* of the run, already said */
    uint64_t drawn_ns; /* CLOCK_MONOTONIC of the last drawing */
    uint64_t began_ns; /* of the first launch that this process ran */
    int began_launch;  /* and its number */
    bool drawn;        /* the line stands on the terminal */
    char warned[512];  /* the last warning: launches alike have the same */
};

void progress_begin(struct progress *p, const struct plan *plan, bool quiet);
/* An attempt begins; `closed` groups of the launch are already there. */
void progress_launch(struct progress *p, int launch, int attempt, size_t closed);
/* A beat of rank 0. */
void progress_beat(struct progress *p, const struct control *beat);
/* What a rank warns of, unless it was just said. */
void progress_warn(struct progress *p, const char *text);
/* Takes the line away, so that another may be printed; the next beat draws it again. */
void progress_clear(struct progress *p);

/* The line, at most `columns` wide. Pure, for the tests. */
void progress_line(const struct progress *p, const struct control *beat, double left_s,
                   size_t columns, char *buf, size_t n);

#endif
