/* SPDX-License-Identifier: Apache-2.0
 *
 * The launcher and all processes that it starts. This process is the subreaper: a process that loses
 * its parent becomes our child. So all of them can be found and ended.
 */
#pragma once

#include "base/interrupts.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct family {
    pid_t launcher;
    int out;    /* its stdout, non-blocking */
    bool ended; /* the launcher, with this wait status */
    int status;
    pid_t *before; /* earlier children of this process, which are not killed */
    size_t n_before;
};

/* Starts argv in its own process group: stdin is /dev/null, stdout a pipe, stderr `log`. The launcher
 * dies with this process. GS_OK, or GS_CANNOT, reported: the program cannot be executed. */
int family_start(struct family *f, char *const argv[], int log, const struct interrupts *i);
/* The parent of a process; 0: it is gone, or not of this namespace. */
pid_t family_parent(pid_t pid);
/* Reaps the processes that ended. */
void family_reap(struct family *f);
/* Kills the remaining processes; their output can still be read from `out`. GS_FAILED, reported, if
 * one is still alive after 10 s (it hangs inside the kernel). */
int family_kill(struct family *f);
/* The same, and frees. */
int family_end(struct family *f);
