/* SPDX-License-Identifier: Apache-2.0
 *
 * What this process holds, before and after calls into code that is not trusted, and what that code
 * prints while nobody should.
 */
#ifndef GS_STDOUT_CAPTURE_H
#define GS_STDOUT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

struct resources {
    long fds, threads, heap_B;
};

struct resources resources_count(void);

/* Stdout and stderr go into a file in memory until stdout_capture_end. Returns a descriptor of
 * stdout as it was, or -1. */
int stdout_capture_begin(void);
void stdout_capture_end(int out);
/* The first line that was printed since the last call; false: nothing was. Safe in a handler of
 * signals when `flush` is false. */
bool stdout_capture_line(char *line, size_t n, bool flush);

#endif
