/* SPDX-License-Identifier: Apache-2.0
 *
 * A control line: one message from a shim to the supervisor (supervise.h).
 */
#pragma once

#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

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
