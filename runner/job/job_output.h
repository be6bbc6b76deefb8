/* SPDX-License-Identifier: Apache-2.0
 *
 * What a user's command prints, line by line: its start and its end go to a log, and every line to a
 * reader of step times. The log has "(hidden)" in place of values of environment variables whose names
 * are those of secrets.
 */
#pragma once

#include "base/text.h"
#include "config/settings.h"
#include "job/job_watch.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- step times ---- */

struct job_step {
    uint64_t ns;
    double at; /* Unix seconds at which its line came */
};

struct job_times;
struct job_times *job_times_new(const struct train_settings *s);
void job_times_free(struct job_times *t);
AUTO_POINTER(struct job_times, job_times_free)
/* A terminated line, which may be changed. */
void job_times_line(struct job_times *t, char *line, double at);
size_t job_times_get(const struct job_times *t, const struct job_step **steps);
/* What is wrong with the first number that is not a time; "": nothing. */
const char *job_times_wrong(const struct job_times *t);
double job_steps_median_s(const struct job_step *steps, size_t n);

/* Step times from a file that the command writes: only from what it adds. */
struct job_file {
    const char *path;
    ino_t inode;
    off_t size;
};
/* Before the command: what the file holds already. */
void job_file_note(struct job_file *f, const char *path);
/* After it: reads the lines that are new, or the whole file if it was replaced or cut. False and
 * errno: it cannot be read. */
bool job_file_read(const struct job_file *f, struct job_times *times);

/* ---- the output ---- */

struct job_output {
    int log;
    struct job_times *times; /* NULL: read from a file instead */
    struct job_watch *job;
    struct text line, tail;
    char before;             /* the byte taken last */
    size_t logged, left_out; /* bytes */
    char last[160];          /* the last line with a letter, or the last that is not blank */
    bool has_words;          /* `last` has a letter */
    const char *advice;      /* about a known message of a launcher; NULL: there was none */
};

/* Hooks of job_guarded(): ctx is a struct job_output. */
void job_output_take(void *ctx, const char *bytes, size_t n);
void job_output_meanwhile(void *ctx);
/* The last, incomplete line; the end of what the log lacks. */
void job_output_end(struct job_output *o);
/* "; what to do", "; its last line: ..." or "". The caller frees it. */
char *job_output_reason(const struct job_output *o);
void job_output_free(struct job_output *o);
