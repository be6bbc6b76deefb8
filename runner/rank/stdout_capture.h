/* SPDX-License-Identifier: Apache-2.0
 *
 * What this process holds, before and after calls into code that is not trusted, and what that code
 * prints while nobody should.
 */
#ifndef GS_WITNESS_H
#define GS_WITNESS_H

#include <stdbool.h>
#include <stddef.h>

struct witness {
    long fds, threads, heap_B;
};

struct witness witness_look(void);

/* Stdout and stderr go into a file in memory until witness_listen_end. Returns a descriptor of
 * stdout as it was, or -1. */
int witness_listen(void);
void witness_listen_end(int out);
/* The first line that was printed since the last call; false: nothing was. Safe in a handler of
 * signals when `flush` is false. */
bool witness_heard(char *line, size_t n, bool flush);

#endif
