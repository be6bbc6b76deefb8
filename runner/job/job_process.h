/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a user's command to its end, guarded and with a deadline.
 */
#pragma once

#include "base/family.h"

#include <stdbool.h>
#include <stddef.h>

struct job_ended {
    int status;   /* exit code; 128 and the signal that ended the shell */
    bool hung;    /* it was ended at its deadline */
    bool stopped; /* it was ended because of a signal to gradsync */
    bool enough;  /* it was ended because the caller has enough */
    bool lost;    /* its guard was killed or stopped, so it was ended */
    pid_t halted; /* a process of it that was stopped (SIGSTOP) when it was ended; 0: none */
    double took_s;
};

struct job_hooks {
    void (*take)(void *ctx, const char *bytes, size_t n); /* the output as it comes */
    bool (*enough)(
        void *ctx); /* often, while the command runs; once it is true, the command is ended */
    void *ctx;
};

/* Runs a script of a shell. A guard process stands between gradsync and the command. It is the
 * subreaper of whatever the command starts, and ends all of it: at the deadline, when the shell has
 * ended, and when gradsync itself is killed. All processes get SIGTERM, and SIGKILL only if one is left
 * after ten seconds. Then the guard removes what the job left in shared memory. If the guard itself is killed or
 * stopped, gradsync ends the job at once, as it does on a signal. The command has a session of its own and no
 * terminal; its stdin is /dev/null, and its stderr goes where its stdout goes. GS_OK, or GS_FAILED, reported: no process
 * can be made. */
int job_guarded(const char *script, double timeout_s, struct interrupts *i,
                const struct job_hooks *hooks, struct job_ended *ended);

/* A process below this one that is stopped, for which others may wait. 0: none. */
pid_t job_halted(void);

/* "crash", "hang" or "lost", as in a fail line; NULL: it ended well. why: "exit code 3". */
const char *job_ended_kind(const struct job_ended *e, char *why, size_t n);

/* The objects in a job (plugins/engine): for LD_PRELOAD and LD_AUDIT. */
#define JOB_OBJECT "libgradsync-engine.so"
#define JOB_AUDIT "libgradsync-audit.so"
/* The path of a file beside the program, or of where it is installed; NULL: neither is there. The caller
 * frees. */
char *job_beside(const char *built, const char *installed);
