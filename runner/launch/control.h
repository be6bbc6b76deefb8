/* SPDX-License-Identifier: Apache-2.0
 *
 * What the ranks say: a control line is one message from a shim to the supervisor (supervise.h).
 * And the progress that a run shows of it on stderr.
 */
#pragma once

#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_MARK "\x1egs "
#define CONTROL_LINE_MAX 2048 /* below PIPE_BUF: one write is atomic */

enum control_event {
    CONTROL_BEAT,
    CONTROL_DEAD,
    CONTROL_ERROR,
    CONTROL_DONE,
    CONTROL_WARN,
    CONTROL_LOST
};

/* control_decode sets members that the event does not have to zero. */
struct control {
    enum control_event event;
    int rank;
    char phase[16];                  /* beat, dead */
    char cell[PLAN_ID];              /* beat, dead, warn; "" before the first */
    char group[PLAN_ID], config[64]; /* beat */
    int block, groups_done, groups;  /* beat */
    double half_width;               /* beat: relative, widest of the cells; 0: unknown */
    double left_s;                   /* beat: estimated remaining time of this launch */
    int copy;                        /* dead */
    char kind[16];                   /* dead: crash, hang, lost */
    char host[64];                   /* dead, lost: of the rank */
    long pid;                        /* dead */
    char why[512];                   /* dead, error, warn; lost: hosts, a space after each */
    int code;                        /* error: an enum gs_exit */
    char status[16];                 /* done: complete, interrupted */
};

/* Writes the line with mark and '\n'; returns its length. Bytes that are not UTF-8 become '?'. */
size_t control_encode(const struct control *c, char buf[CONTROL_LINE_MAX]);

/* False: `line` is log output, or damaged. Text before the mark is ignored, because a program may
 * have printed part of a line. */
bool control_decode(const char *line, struct control *out);

/* ---- progress ----
 *
 * The progress of a run, on stderr: one line that is redrawn on a terminal; elsewhere a line for each
 * launch and each 10 %; nothing if quiet. */

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
