/* SPDX-License-Identifier: Apache-2.0
 *
 * Patterns for lines of a training log: POSIX extended regular expressions, case-insensitive, with
 * one group for the number. In each table the first match wins.
 */
#pragma once

enum watch_meaning {
    WATCH_RATE,        /* total tokens/s */
    WATCH_RATE_OF_GPU, /* tokens/s of one GPU */
    WATCH_STEP,        /* seconds per step */
    WATCH_STEP_MS,     /* milliseconds per step */
    WATCH_STEPS_PER_S
};

struct watch_pattern {
    const char *text;
    enum watch_meaning meaning;
};

struct watch_trouble {
    const char *what, *text;
};

/* End with a NULL text. */
extern const struct watch_pattern watch_rates[], watch_times[];
extern const char *const watch_steps[]; /* the number of the step */
extern const struct watch_trouble watch_troubles[];
