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
    double took_s;
};

/* `take` gets the output as it comes. The first signal to gradsync lets the command finish. GS_OK, or
 * GS_FAILED, reported: no process can be made. */
int train_process(const char *script, double timeout_s, struct interrupts *i,
                  void (*take)(void *ctx, const char *bytes, size_t n), void *ctx,
                  struct train_ended *ended);
