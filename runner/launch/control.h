/* SPDX-License-Identifier: Apache-2.0
 *
 * One control line, as the shims send them and the supervisor reads them (supervise.h).
 */
#ifndef GS_CONTROL_H
#define GS_CONTROL_H

#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

#define CONTROL_MARK "\x1egs "
#define CONTROL_LINE_MAX 2048 /* below PIPE_BUF: a line is written whole or not at all */

enum control_event { CONTROL_BEAT, CONTROL_DEAD, CONTROL_ERROR, CONTROL_DONE, CONTROL_WARN };

/* Members that an event does not send are zero after control_decode. */
struct control {
    enum control_event event;
    int rank;
    char phase[16];                  /* beat, dead */
    char cell[PLAN_ID];              /* beat, dead; "" before the first */
    char group[PLAN_ID], config[64]; /* beat */
    int block, groups_done, groups;  /* beat */
    double half_width;               /* beat: relative, of the worst cell; 0: not yet known */
    double left_s;                   /* beat: estimate for this launch */
    int copy;                        /* dead */
    char kind[16], host[64];         /* dead: crash, hang, lost */
    long pid;                        /* dead */
    char why[512];                   /* dead, error, warn */
    int code;                        /* error: an enum gs_exit */
    char status[16];                 /* done: complete, interrupted */
};

/* The line, mark and '\n' included; returns its length. Bytes that are not UTF-8 become '?'. */
size_t control_encode(const struct control *c, char buf[CONTROL_LINE_MAX]);

/* False: `line` is no control line but log, or is damaged. What stands before the mark is passed
 * over: a program may have printed half a line of its own. */
bool control_decode(const char *line, struct control *out);

#endif
