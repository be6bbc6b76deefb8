/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a shell command to its end, with a deadline.
 *
 * A guard process stands between gradsync and the command. It is the subreaper of whatever the
 * command starts, and ends all of it: at the deadline, when the shell has ended, and when gradsync
 * itself is killed. The command has a session of its own and no terminal; its stdin is /dev/null,
 * and its stderr goes where its stdout goes.
 */
#pragma once

#include "base/interrupts.h"

#include <stdbool.h>
#include <stddef.h>

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
