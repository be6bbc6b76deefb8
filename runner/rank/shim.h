/* SPDX-License-Identifier: Apache-2.0
 *
 * The process that the launcher starts. It forks the measuring process, watches it, and reports its
 * end on stdout (control.h). It never calls MPI, so a hang of MPI cannot stop it.
 */
#pragma once

#include "rank/beat.h"
#include "rank/place.h"

/* Runs child(arg) in a child process. Returns its exit code, or GS_FAILED if it died. SIGUSR1 tells
 * the child to finish its block and exit; SIGTERM, SIGINT and SIGHUP kill it. The child dies with
 * this process, and this process with the launcher. */
int shim(const struct rank_place *place, struct beat *beat, int (*child)(void *arg), void *arg);
