/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts the ranks of one attempt and watches them until all have ended; judges how the attempt
 * ended.
 */
#pragma once

#include "base/family.h"
#include "base/text.h"
#include "launch/control.h"
#include "plan/plan.h"

#include <stdbool.h>

/* ---- how an attempt ended ----
 *
 * Decides how an attempt ended, from its control lines and the exit status of its launcher. */

enum attempt_end { ATTEMPT_COMPLETE, ATTEMPT_INTERRUPTED, ATTEMPT_DIED, ATTEMPT_REFUSED };

struct attempt {
    int launch, attempt;
    enum attempt_end end;
    int code;           /* REFUSED: exit code */
    char kind[16];      /* DIED: crash, hang, lost */
    char why[512];      /* DIED, REFUSED: reason, for the message */
    char cell[PLAN_ID]; /* DIED: cell in which it died; "" before the first */
    bool cut;           /* DIED: by the network; another attempt would wait for it in MPI_Init */
    char log[256];      /* file name of its log in the run folder; "" if there is none */
};

#define CUT_MAX 512 /* further pairs are dropped */

/* What the supervisor observed of an attempt. */
struct attempt_evidence {
    struct control beat;                                 /* the last of rank 0 */
    struct control dead, error, done;                    /* the first of each */
    bool heard, has_beat, has_dead, has_error, has_done; /* heard: any control line */
    bool interrupted;                                    /* this process told the ranks to stop */
    char cut[CUT_MAX]; /* hosts that have lost each other (cut_add); "": none */
    char given_up[64]; /* why the supervisor ended it; "": it did not */
    char launcher[32]; /* program name */
    int status;        /* its wait status */
    const char *log_path;
};

/* `host` has lost these: their names, with a space after each. Adds "no answer between A and B" for each
 * pair that `cut` has not. */
void cut_add(char cut[CUT_MAX], const char *host, const char *lost);

/* Sets a->end and its details. If no rank reported a death, e->dead gets one, with rank -1. */
void attempt_verdict(struct attempt *a, struct attempt_evidence *e);

/* ---- the supervisor ----
 *
 * Starts the ranks of one attempt with mpirun or srun, and watches them until all have ended.
 *
 * There are three levels of processes. gradsync (supervise.c) starts the launcher. The launcher
 * starts gradsync-rank once per rank. Each gradsync-rank (rank/shim.c) forks the process that
 * measures, and watches it through a shared page (rank/shim.h). After a crash or a missed deadline
 * the shim kills its child, reports one control line on stdout and exits; the launcher then ends the
 * other ranks. Each level dies with the one above it (PR_SET_PDEATHSIG). gradsync is the subreaper.
 *
 * The launcher's stdout carries the control lines of the shims (control.h); the rest is log output. */

/* Runs one attempt to its end; a->launch and a->attempt are set. If rank 0 died, writes the last lines
 * of the recording. Leaves no process behind. GS_OK, or reported: the launcher cannot be started
 * (GS_CANNOT, GS_USAGE), or the folder cannot be written. */
int supervise(const struct plan *p, const char *dir, struct interrupts *i,
              struct progress *progress, struct attempt *a);
