/* SPDX-License-Identifier: Apache-2.0
 *
 * Extracts rates and step times from the lines of a training log, by patterns of common trainers or by
 * the user's own. A value may stand behind any prefix. Progress bars of loading and evaluation are no
 * steps, and a step that several lines report counts once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define WATCH_TROUBLES_MAX 16

struct watch_values {
    double rate;     /* tokens/s; 0: not in the line */
    bool of_gpu;     /* rate of one GPU, not of all; never after a line had the rate of all */
    double step_s;   /* 0: not in the line */
    long long step;  /* step number; -1: not in the line */
    bool again;      /* of the same step as a line before; its values are new */
    bool first_rate; /* the first rate of all GPUs: rates of one GPU before it do not count */
    bool restart;    /* steps begin here: what was measured before was of loading */
};

struct watch_trouble {
    const char *what, *text;
};
extern const struct watch_trouble watch_troubles[]; /* ends with a NULL text */

struct watch_lines;
/* pattern: one group for tokens/s; after "gpu:" of one GPU; after "step:" seconds per step, or another
 * unit if the line or the pattern names it beside the group; after "ms:" milliseconds. NULL: the
 * patterns of common trainers. Returns NULL, reported: it is invalid or has no group. */
struct watch_lines *watch_lines_new(const char *pattern);
void watch_lines_free(struct watch_lines *w);
struct watch_values watch_lines_read(struct watch_lines *w, const char *line);
/* Index in watch_troubles; -1: no trouble. */
int watch_lines_trouble(const struct watch_lines *w, const char *line);
/* Removes colours, cursor movements (ESC [ … letter) and NULs; makes the rest printable
 * (printable.h). */
void watch_clean(char *line, size_t n);
