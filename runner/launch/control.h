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

/* A member that the event does not have is zero. */
struct control {
    enum control_event event;
    int rank;
    char phase[16];          /* beat, dead */
    char cell[PLAN_ID];      /* beat, dead, warn; "" before the first */
    int groups_done, groups; /* beat */
    int copy;                /* dead */
    char kind[16];           /* dead: crash, hang, lost */
    char host[64];           /* dead, lost: of the rank */
    char why[512];           /* dead, error, warn; lost: hosts, a space after each */
    int code;                /* error: an enum gs_exit */
    char status[16];         /* done: complete, interrupted */
};

/* Writes the line with mark and '\n'; returns its length. Bytes that are not UTF-8 become '?'. */
size_t control_encode(const struct control *c, char buf[CONTROL_LINE_MAX]);

/* False: `line` is log output, or damaged. Text before the mark is ignored, because a program may
 * have printed part of a line. */
bool control_decode(const char *line, struct control *out);

/* ---- progress ----
 *
 * The progress of a run, on stderr: a line for each launch and each 10 %; nothing if quiet. */

struct progress {
    const struct plan *plan;
    bool quiet;
    int launch;
    size_t closed;     /* groups closed in this launch before this attempt */
    int tenths;        /* of the run, already reported */
    uint64_t began_ns; /* start of the first launch of this process */
    double began;      /* the share of the run that was done then */
    char warned[512];  /* the last warning, which the next launch may repeat */
};

/* An attempt begins; `closed` groups of the launch are already measured. */
void progress_launch(struct progress *p, int launch, int attempt, size_t closed);
/* A beat of rank 0. */
void progress_beat(struct progress *p, const struct control *beat);
/* Shows a rank's warning, unless it was the last one shown. `cell`: the id of the cell that it is
 * about; "": none. */
void progress_warn(struct progress *p, const char *text, const char *cell);
