/* SPDX-License-Identifier: Apache-2.0
 *
 * The function that detects an error reports it in one line on stderr and returns the exit code;
 * its callers return that code. So error handling is `return fail(GS_USAGE, "…")`.
 */
#pragma once

#include <stddef.h>

enum gs_exit {
    GS_OK = 0,
    GS_FAILED = 1, /* ran, but something measured failed, or a file is damaged */
    GS_USAGE = 2,  /* wrong usage or config */
    GS_CANNOT = 3  /* this machine cannot run it */
};

/* The next step, if all before it went well: code = call. */
#define TRY(code, call)                                                                            \
    do {                                                                                           \
        if ((code) == GS_OK)                                                                       \
            (code) = (call);                                                                       \
    } while (0)

/* In a function that returns a code: returns that of the call unless it is GS_OK. What the function must
 * free is AUTO (text.h). */
#define CHECK(call)                                                                                \
    do {                                                                                           \
        const int check_code = (call);                                                             \
        if (check_code)                                                                            \
            return check_code;                                                                     \
    } while (0)

/* Prints "gradsync: TEXT" and returns code. */
int fail(enum gs_exit code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints "FILE:LINE: TEXT" (FILE: TEXT when line is 0) and returns code. */
int fail_at(enum gs_exit code, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* "PATH: cannot be WHAT: why (what to do)", GS_FAILED; `error` is an errno. */
int fail_file(const char *path, const char *what, int error);
/* The exit code after two failures. GS_USAGE wins: a fault of the config fails on every machine. */
int err_worse(int a, int b);

/* Prints a line on stderr that is not an error; -q silences it. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_quiet(int quiet);

/* The program as the user called it, such as build/gradsync, and its verbs, with a space on both sides of each. */
void err_called(const char *program, const char *verbs);
/* The text, with each command in it ("gradsync VERB ...") as the user has to type it. To be freed. */
char *err_as_called(const char *text);

/* Captures the last line of fail() and fail_at() in buf instead of printing it, for tests and
 * retries. NULL ends the capture. Captures may be nested. */
void err_capture(char *buf, size_t size);
