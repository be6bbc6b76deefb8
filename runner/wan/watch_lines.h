/* SPDX-License-Identifier: Apache-2.0
 *
 * Extracts rates and step times from the lines of a training log, by the rows of watch.table and of a file of
 * the user's. A value may stand behind any prefix. Progress bars of loading and
 * evaluation are no steps, and a step that several lines report counts once.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct watch_values {
    double rate;   /* tokens/s; 0: not in the line */
    bool of_gpu;   /* rate of one GPU, not of all; never after a line had the rate of all */
    double step_s; /* 0: not in the line */
    int digits, rate_digits; /* how exact they are */
    long long step;          /* step number; -1: not in the line */
    bool again;              /* of the same step as a line before; its values are new */
    bool first_rate; /* the first rate of all GPUs: rates of one GPU before it do not count */
    bool restart;    /* steps begin here: what was measured before was of loading */
};

struct watch_lines;
/* file: rows of the user's, before those of the table; NULL: none. Returns NULL, reported. */
struct watch_lines *watch_lines_new(const char *file);
void watch_lines_free(struct watch_lines *w);
struct watch_values watch_lines_read(struct watch_lines *w, const char *line);
/* Which kind of fault a line reports; watch_lines_kinds()->n: none. warning: it is one only if no step follows. */
size_t watch_lines_fault(const struct watch_lines *w, const char *line, bool *warning);
const struct words *watch_lines_kinds(const struct watch_lines *w);
/* Reads the example of each row. GS_OK, or reported: one gives something else. */
int watch_lines_try(const char *file);
/* Removes colours, cursor movements (ESC [ … letter) and NULs; makes the rest printable
 * (base/text.h). */
void watch_clean(char *line, size_t n);
