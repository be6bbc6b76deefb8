/* SPDX-License-Identifier: Apache-2.0
 *
 * The process that the launcher started: it forks the one that measures, watches it, and says on
 * stdout what became of it (control.h). It never calls MPI, so nothing that hangs can hang it.
 */
#ifndef GS_SHIM_H
#define GS_SHIM_H

#include "rank/beat.h"
#include "rank/place.h"

/* Runs child(arg) in a process of its own; returns the exit code for this one: the child's, or
 * GS_FAILED when it died. SIGUSR1: the child is asked to close its block and leave. SIGTERM,
 * SIGINT, SIGHUP: it is killed. The child dies with this process, and this one with the launcher.
 */
int shim(const struct rank_place *place, struct beat *beat, int (*child)(void *arg), void *arg);

#endif
