/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/text.h"
#include "config/train_settings.h"
#include "record/job_watch.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ==== train_times ====
 *
 * The step times in the lines that a command prints. */

struct train_step {
    uint64_t ns;
    double at; /* Unix seconds at which its line came */
};

struct train_times;
struct train_times *train_times_new(const struct train_settings *s);
void train_times_free(struct train_times *t);
AUTO_POINTER(struct train_times, train_times_free)
/* A terminated line, which may be changed. */
void train_times_line(struct train_times *t, char *line, double at);
size_t train_times_get(const struct train_times *t, const struct train_step **steps);
/* What is wrong with the first number that is not a time; "": nothing. */
const char *train_times_wrong(const struct train_times *t);

/* ==== train_file ====
 *
 * Step times from a file that the command writes: only from what it adds. */

struct train_file {
    const char *path;
    ino_t inode;
    off_t size;
};

/* Before the command: what the file holds already. */
void train_file_note(struct train_file *f, const char *path);
/* After it: reads the lines that are new, or the whole file if it was replaced or cut. False and
 * errno: it cannot be read. */
bool train_file_read(const struct train_file *f, struct train_times *times);

/* ==== train_output ====
 *
 * The output of a command, line by line: its start and its end go to the log of the attempt, and
 * every line to a reader of step times. The log has "(hidden)" in place of values of environment
 * variables whose names are those of secrets. */

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
