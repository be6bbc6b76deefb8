/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the log of a training line by line. Extracts rate and step time with patterns, compares
 * their rolling medians with the expected values, and finds lines that report errors. Prints on
 * stdout as it reads.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct watch_values {
    double rate;     /* tokens/s; 0: not in the line */
    bool of_gpu;     /* rate of one GPU, not of all; never after a line had the rate of all */
    double step_s;   /* 0: not in the line */
    long long step;  /* step number; -1: not in the line */
    bool again;      /* of the same step as a line before; its values are new */
    bool first_rate; /* the first rate of all GPUs: rates of one GPU before it do not count */
    bool restart;    /* steps begin here: what was measured before was of loading */
};

struct watch_lines;
/* pattern: one group for tokens/s; after "gpu:" of one GPU; after "step:" seconds per step, or
 * another unit if the line or the pattern names it beside the group; after "ms:" milliseconds.
 * NULL: the patterns of common trainers. Returns NULL, reported: it is invalid or has no group. */
struct watch_lines *watch_lines_new(const char *pattern);
void watch_lines_free(struct watch_lines *w);
struct watch_values watch_lines_read(struct watch_lines *w, const char *line);
/* Removes colours, cursor movements (ESC [ … letter) and NULs; makes the rest printable
 * (base/text.h). */
void watch_clean(char *line, size_t n);

#define WATCH_WINDOW_MAX 1000

struct watch_options {
    double expected_rate, expected_step_s; /* expected by the model; 0: unknown */
    double tokens, gpus;                   /* tokens per step, number of GPUs; 0: unknown */
    double threshold;                      /* tokens/s; 0: none */
    size_t window;       /* measurements per rolling median, and per line of output */
    size_t warmup;       /* first measurements, excluded from the medians */
    const char *pattern; /* watch_lines_new; NULL: the patterns of common trainers */
};

struct watch;
/* NULL, reported: the pattern is invalid or has no group. */
struct watch *watch_new(const struct watch_options *o);
/* One line without its newline. Removes colours and NULs in place. */
void watch_line(struct watch *w, char *line, size_t n);
size_t watch_measured(const struct watch *w); /* steps so far */
/* `seconds` have passed without a new step while following. Flags a stall once; says once that a
 * log has no step at all. */
void watch_idle(struct watch *w, double seconds);
/* Prints the summary. Returns the number of reported problems. */
size_t watch_end(struct watch *w);
void watch_free(struct watch *w);
AUTO_POINTER(struct watch, watch_free)
