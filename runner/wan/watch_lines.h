/* SPDX-License-Identifier: Apache-2.0
 *
 * Extracts values from a line of a training log by patterns: watch_patterns.h, or the user's own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define WATCH_PATTERNS_MAX 16 /* of a kind */

struct watch_values {
    double rate;    /* tokens/s; 0: not in the line */
    bool of_gpu;    /* rate of one GPU, not of all */
    double step_s;  /* 0: not in the line */
    long long step; /* step number; -1: not in the line */
};

struct watch_lines;
/* pattern: see watch.h. NULL, reported: it is invalid or has no group. */
struct watch_lines *watch_lines_new(const char *pattern);
void watch_lines_free(struct watch_lines *w);
struct watch_values watch_lines_read(const struct watch_lines *w, const char *line);
/* Index in watch_troubles; -1: no trouble. */
int watch_lines_trouble(const struct watch_lines *w, const char *line);
/* Removes colours, cursor movements (ESC [ … letter) and NULs; makes the rest printable
 * (printable.h). */
void watch_clean(char *line, size_t n);
