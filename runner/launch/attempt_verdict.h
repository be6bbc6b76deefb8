/* SPDX-License-Identifier: Apache-2.0
 *
 * How an attempt ended, from what its ranks said and how its launcher went.
 */
#ifndef GS_JUDGE_H
#define GS_JUDGE_H

#include "launch/control.h"
#include "launch/supervise.h"

#include <stdbool.h>

/* What was seen of an attempt. */
struct evidence {
    struct control beat, dead, error, done; /* the last beat of rank 0; the first of the others */
    bool heard, has_beat, has_dead, has_error, has_done; /* heard: any control line at all */
    bool interrupted;                                    /* it was asked to end */
    double silent_s;   /* it was killed after saying nothing for so long; 0: it was not */
    char launcher[32]; /* name of the program */
    int status;        /* its wait status */
    const char *log_path;
};

/* Fills a->end and what goes with it. A death that no rank told is put into e->dead, as rank -1. */
void judge(struct attempt *a, struct evidence *e);

#endif
