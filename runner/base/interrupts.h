/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts signals (Ctrl-C, a closing terminal, a batch system's warning) so that a run stops between
 * two steps. The first signal requests a clean stop, the second an immediate one.
 */
#pragma once

#include <signal.h>

struct interrupts {
    int fd;          /* readable after a signal; for poll() */
    int count;       /* SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 so far */
    int last;        /* the last signal; 0: none */
    sigset_t before; /* the signal mask to restore, here and in children */
};

/* Blocks the signals and SIGCHLD; signals that were ignored, as under nohup, stay ignored. Ignores
 * SIGPIPE, so that a closed pipe does not stop a run, and SIGXFSZ, so that write() returns an error
 * instead. GS_OK or GS_FAILED. */
int interrupts_catch(struct interrupts *i);
/* Counts the pending signals; never blocks. */
void interrupts_read(struct interrupts *i);
/* In a child, between fork and exec. */
void interrupts_child(const struct interrupts *i);
void interrupts_release(struct interrupts *i);
