/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts the ranks of one attempt with mpirun or srun, and watches them until all have ended.
 *
 * There are three levels of processes. gradsync (supervise.c) starts the launcher. The launcher
 * starts gradsync-rank once per rank. Each gradsync-rank (rank/shim.c) forks the process that
 * measures, and watches it through a shared page (rank/beat.h). After a crash or a missed deadline
 * the shim kills its child, reports one control line on stdout and exits; the launcher then ends the
 * other ranks. Each level dies with the one above it (PR_SET_PDEATHSIG). gradsync is the subreaper.
 *
 * The launcher's stdout carries the control lines of the shims (control.h); the rest is log output.
 */
#pragma once

#include "base/interrupts.h"
#include "launch/attempt_verdict.h"
#include "launch/progress.h"
#include "plan/plan.h"

/* Runs one attempt to its end; a->launch and a->attempt are set. If rank 0 died, writes the last lines
 * of the recording. Leaves no process behind. GS_OK, or reported: the launcher cannot be started
 * (GS_CANNOT, GS_USAGE), or the folder cannot be written. */
int supervise(const struct plan *p, const char *dir, struct interrupts *i,
              struct progress *progress, struct attempt *a);
