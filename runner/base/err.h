/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors are reported once, in one line on stderr, where they are first known; the exit code is
 * then returned up the call chain. So `return fail(GS_USAGE, "…")` is the whole of error handling.
 */
#ifndef GS_ERR_H
#define GS_ERR_H

#include <stddef.h>

enum gs_exit {
    GS_OK = 0,
    GS_FAILED = 1, /* ran, but something measured failed, or a file is damaged */
    GS_USAGE = 2,  /* wrong usage or config */
    GS_CANNOT = 3  /* this machine cannot run it */
};

/* Prints "gradsync: TEXT" and returns code. */
int fail(enum gs_exit code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints "FILE:LINE: TEXT" (FILE: TEXT when line is 0) and returns code. */
int fail_at(enum gs_exit code, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* "PATH: cannot be WHAT: why (what to do)", GS_FAILED; `error` is an errno. */
int fail_file(const char *path, const char *what, int error);

/* The code to end with when two things failed: a fault of the config before what a machine lacks,
 * since it is there on every machine. */
int err_worse(int a, int b);

/* A line for the user that is no error; silenced by -q. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_quiet(int quiet);

/* While capturing, what fail() and fail_at() would print is kept instead (tests, retries). NULL
 * ends it, and the capture that it was begun inside goes on. */
void err_capture(char *buf, size_t size);

#endif
