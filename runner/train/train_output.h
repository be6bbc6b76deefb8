/* SPDX-License-Identifier: Apache-2.0
 *
 * The output of a command, line by line: its start and its end go to the log of the attempt, and
 * every line to a reader of step times. The log has "(hidden)" in place of values of environment
 * variables whose names are those of secrets.
 */
#pragma once

#include "base/text.h"
#include "record/job_watch.h"
#include "train/train_times.h"

#include <stddef.h>

struct train_output {
    int log;
    struct train_times *times; /* NULL: read from a file instead */
    struct job_watch *job;
    struct text line, tail;
    char before;             /* the byte taken last */
    size_t logged, left_out; /* bytes */
    char last[160];          /* the last line with a letter, or the last that is not blank */
    bool has_words;          /* `last` has a letter */
};

/* Hooks of train_process(): ctx is a struct train_output. */
void train_output_take(void *ctx, const char *bytes, size_t n);
void train_output_meanwhile(void *ctx);
/* The last, incomplete line; the end of what the log lacks. */
void train_output_end(struct train_output *o);
void train_output_free(struct train_output *o);
