/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a command as the shell would: the same terminal, process group and signals.
 */
#pragma once

/* `meanwhile` returns this to end the command and all processes that it started. */
#define TRIAL_CHILD_END (-1)

struct trial_child {
    char **command;
    int (*meanwhile)(void *ctx); /* called every few seconds until the command ends */
    void (*prepare)(void *ctx);  /* called in the process of the command, before it */
    void *ctx;
    const char *log; /* file for the output of the command; NULL: that of gradsync */
};

/* Keeps the first error of `meanwhile`, and lets the command continue. *status is the exit code of the
 * command, or 128 plus the signal that ended it; 0 if TRIAL_CHILD_END ended it. GS_OK, or reported: the
 * command cannot be started (*status is 126 or 127, as in a shell), or the error of meanwhile. */
int trial_child(const struct trial_child *t, int *status);
