/* SPDX-License-Identifier: Apache-2.0
 *
 * Ctrl-C, a closing terminal, a batch system's warning: signals as a number to look at, so that a
 * run ends between two steps and never inside one. The first asks for a clean end, the second for
 * an end at once.
 */
#ifndef GS_INTERRUPTS_H
#define GS_INTERRUPTS_H

#include <signal.h>

struct interrupts {
    int fd;          /* readable when something came; for poll() */
    int count;       /* SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 so far */
    int last;        /* the last of them; 0: none */
    sigset_t before; /* the mask to give back, here and to children */
};

/* Blocks the signals (those that the caller's caller ignores stay ignored, as under nohup) and
 * SIGCHLD, and ignores SIGPIPE (a reader that leaves does not end a run) and SIGXFSZ (a file that
 * may not grow is an error of write). GS_OK or GS_FAILED. */
int interrupts_catch(struct interrupts *i);
/* Counts what has come; never blocks. */
void interrupts_read(struct interrupts *i);
/* In a child, between fork and exec. */
void interrupts_child(const struct interrupts *i);
void interrupts_release(struct interrupts *i);

#endif
