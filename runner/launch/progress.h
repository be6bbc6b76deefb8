/* SPDX-License-Identifier: Apache-2.0
 *
 * The progress of a run, on stderr: one line that is redrawn on a terminal; elsewhere a line for each
 * launch and each 10 %; nothing if quiet.
 */
#pragma once

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
    int tenths;        /* of the run, already reported */
    uint64_t drawn_ns; /* CLOCK_MONOTONIC of the last drawing */
    uint64_t began_ns; /* start of the first launch of this process */
    int began_launch;  /* number of that launch */
    bool drawn;        /* the line is on the terminal */
    char warned[512];  /* the last warning, which the next launch may repeat */
};

void progress_begin(struct progress *p, const struct plan *plan, bool quiet);
/* An attempt begins; `closed` groups of the launch are already measured. */
void progress_launch(struct progress *p, int launch, int attempt, size_t closed);
/* A beat of rank 0. */
void progress_beat(struct progress *p, const struct control *beat);
/* Shows a rank's warning, unless it was the last one shown. `cell`: the id of the cell that it is
 * about; "": none. */
void progress_warn(struct progress *p, const char *text, const char *cell);
/* Erases the line, so that another can be printed; the next beat draws it again. */
void progress_clear(struct progress *p);

/* The line, at most `columns` wide. Pure, for the tests. */
void progress_line(const struct progress *p, const struct control *beat, double left_s,
                   size_t columns, char *buf, size_t n);
