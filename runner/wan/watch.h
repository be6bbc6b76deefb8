/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the log of a training, line by line: rate and step time by patterns, their rolling medians
 * against what is expected, and lines that tell of trouble. Prints on stdout as it goes.
 */
#ifndef GS_WAN_WATCH_H
#define GS_WAN_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#define WATCH_WINDOW_MAX 1000

struct watch_options {
    double expected_rate, expected_step_s; /* of the model; 0: none */
    double tokens, gpus;                   /* of a step, in all; 0: not known */
    double threshold;                      /* tokens/s; 0: none */
    size_t window; /* measurements that a rolling median is over, and between two lines of output */
    size_t warmup; /* first measurements, judged apart */
    const char *pattern; /* NULL: those of common trainers. One group: tokens/s; a pattern that
                            begins with "step:" has the seconds of a step in its group */
};

/* The last `window` values. */
struct rolling {
    double v[WATCH_WINDOW_MAX];
    size_t n, next;
};

struct watch;
/* NULL and reported: a pattern that is none, or without a group. */
struct watch *watch_new(const struct watch_options *o);
/* One line, without its end; changed in place. Colours and NULs are taken out. */
void watch_line(struct watch *w, char *line, size_t n);
size_t watch_measured(const struct watch *w); /* steps so far */
/* So many seconds without a new step while following; flags a stall once. */
void watch_idle(struct watch *w, double seconds);
/* The summary; returns the number of things flagged. */
size_t watch_end(struct watch *w);
void watch_free(struct watch *w);

#endif
