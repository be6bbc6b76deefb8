/* SPDX-License-Identifier: Apache-2.0
 *
 * Watches untrusted code: captures its output, and counts the resources of this process before and
 * after a call.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct resources {
    long fds, threads, heap_B;
};

struct resources resources_count(void);

/* Redirects stdout and stderr to a memory file until stdout_capture_end. Returns a descriptor of the
 * original stdout, or -1. */
int stdout_capture_begin(void);
void stdout_capture_end(int out);
/* The first line printed since the last call; false: none. Safe in a signal handler if `flush` is
 * false. */
bool stdout_capture_line(char *line, size_t n, bool flush);
