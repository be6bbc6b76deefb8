/* SPDX-License-Identifier: Apache-2.0
 *
 * What a line of a training log says, by patterns (watch_patterns.h) or a user's own.
 */
#ifndef GS_WAN_WATCH_LINES_H
#define GS_WAN_WATCH_LINES_H

#include <stdbool.h>
#include <stddef.h>

#define WATCH_PATTERNS_MAX 16 /* of a kind */

struct watch_said {
    double rate;    /* tokens/s; 0: not said */
    bool of_gpu;    /* of one, not of all */
    double step_s;  /* 0: not said */
    long long step; /* its number; -1: not said */
};

struct watch_lines;
/* pattern: as in watch.h. NULL and reported: one that is none, or without a group. */
struct watch_lines *watch_lines_new(const char *pattern);
void watch_lines_free(struct watch_lines *w);
struct watch_said watch_lines_read(const struct watch_lines *w, const char *line);
/* Its place in watch_troubles; -1: tells of none. */
int watch_lines_trouble(const struct watch_lines *w, const char *line);
/* Colours and cursor movements (ESC [ … letter) and NULs go, other controls become blanks. */
void watch_clean(char *line, size_t n);

#endif
