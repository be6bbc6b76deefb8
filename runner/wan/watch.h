/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the log of a training line by line. Extracts rate and step time with patterns, compares
 * their rolling medians with the expected values, and finds lines that report errors. Prints on
 * stdout as it reads.
 */
#pragma once

#include "base/text.h"
#include "wan/watch_lines.h"

#include <stdbool.h>
#include <stddef.h>

#define WATCH_WINDOW_MAX 1000

struct watch_options {
    double expected_rate, expected_step_s; /* expected by the model; 0: unknown */
    double tokens, gpus;                   /* tokens per step, number of GPUs; 0: unknown */
    double threshold;                      /* tokens/s; 0: none */
    size_t window;        /* measurements per rolling median, and per line of output */
    size_t warmup;        /* first measurements, excluded from the medians */
    const char *patterns; /* a file of rows; NULL: none */
};

struct watch;
/* NULL, reported: a row of the file is wrong. */
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
