/* SPDX-License-Identifier: Apache-2.0
 *
 * What a user's command prints, line by line: its start and its end go to a log, and every line to a
 * reader of step times. The log has "(hidden)" in place of values of environment variables whose names
 * are those of secrets.
 */
#pragma once

#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

/* ---- step times ---- */

struct job_step {
    uint64_t ns;
    double at; /* Unix seconds at which its line came */
};

/* Of the formats that `gradsync watch` knows. */
struct job_times {
    struct watch_lines *known;
    struct job_step *v;
    size_t n;
};
void job_times_free(struct job_times *t);

/* ---- the output ---- */

struct job_output {
    int log;
    struct job_times *times; /* NULL: not read */
    struct text line, tail;
    char before;             /* the byte taken last */
    size_t logged, left_out; /* bytes */
    char last[300];          /* the last line with a letter, or the last that is not blank */
    bool has_words;          /* `last` has a letter */
    char error[160];         /* the first line that names an error, or "" */
    bool dashes;             /* the line before was one of dashes */
    enum { NO_MESSAGE, PARAGRAPH, REST } message; /* of a launcher: its first paragraph, the rest */
    const char *advice; /* the launcher started nothing: what to do; NULL: it did not say so */
};

/* A hook of job_guarded(): ctx is a struct job_output. */
void job_output_take(void *ctx, const char *bytes, size_t n);
/* The last, incomplete line; the end of what the log lacks. */
void job_output_end(struct job_output *o);
/* "; what to do", "; its first error: ...", "; its last line: ..." or "". The caller frees it. */
char *job_output_reason(const struct job_output *o);
void job_output_free(struct job_output *o);
