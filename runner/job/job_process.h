/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/interrupts.h"

#include <stdbool.h>
#include <stddef.h>

/* ==== train_process ====
 *
 * Runs a shell command to its end, with a deadline.
 *
 * A guard process stands between gradsync and the command. It is the subreaper of whatever the
 * command starts, and ends all of it: at the deadline, when the shell has ended, and when gradsync
 * itself is killed. The command has a session of its own and no terminal; its stdin is /dev/null,
 * and its stderr goes where its stdout goes. */

struct train_ended {
    int status;   /* exit code; 128 and the signal that ended the shell */
    bool hung;    /* it was ended at its deadline */
    bool stopped; /* it was ended because of a second signal to gradsync */
    bool enough;  /* it was ended because the caller has enough */
    double took_s;
};

struct train_hooks {
    void (*take)(void *ctx, const char *bytes, size_t n); /* the output as it comes */
    void (*meanwhile)(void *ctx); /* often, while the command runs; or NULL */
    bool (*enough)(void *ctx);    /* the same; once it is true, the command is ended; or NULL */
    void *ctx;
};

/* The first signal to gradsync lets the command finish. GS_OK, or
 * GS_FAILED, reported: no process can be made. */
int train_process(const char *script, double timeout_s, struct interrupts *i,
                  const struct train_hooks *hooks, struct train_ended *ended);

/* ==== trial_child ====
 *
 * Runs a command as the shell would: the same terminal, process group and signals. */

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
