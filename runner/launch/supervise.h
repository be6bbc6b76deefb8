/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts the ranks of one attempt with mpirun or srun and watches over them until none is left.
 *
 * Three processes deep: gradsync (supervise.c) starts the launcher, the launcher starts
 * gradsync-rank on every slot, and each gradsync-rank (rank/shim.c) forks the process that measures
 * and watches it through a shared page (rank/beat.h). A crash or a missed deadline is seen by the
 * shim, which kills its child, says so in one control line on stdout and exits; the launcher then
 * ends the other ranks. Each level dies with the one above it (PR_SET_PDEATHSIG), and gradsync is
 * the subreaper of them all.
 *
 * Control lines come from the shims through the launcher's stdout (control.h); all else is log.
 */
#ifndef GS_SUPERVISE_H
#define GS_SUPERVISE_H

#include "base/interrupts.h"
#include "launch/attempt_verdict.h"
#include "launch/progress.h"
#include "plan/plan.h"

/* Runs one attempt (its launch and number are set) of one launch to its end, and writes the closing
 * lines that a dead rank 0 could not. Before it returns no process it started is left. GS_OK, or
 * reported: the launcher is not to be had (GS_CANNOT, GS_USAGE), the folder cannot be written. */
int supervise(const struct plan *p, const char *dir, struct interrupts *i,
              struct progress *progress, struct attempt *a);

#endif
