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
 * Control lines, shim to supervisor, through the launcher's stdout, all else is log:
 *   \x1egs {"rank":0,"event":"beat","phase":"sample","cell":"…","group":"…","config":"…",
 *           "block":3,"half_width":0.012,"groups_done":4,"groups":28,"left_s":12.3}
 *   \x1egs {"rank":1,"event":"dead","kind":"crash|hang|lost","why":"killed by SIGSEGV","host":"…",
 *           "pid":4711,"cell":"…","copy":0,"phase":"sample"}
 *   \x1egs {"rank":0,"event":"error","why":"…","code":3}       the rank's own one-line error
 *   \x1egs {"rank":0,"event":"done","status":"complete|interrupted"}
 */
#ifndef GS_SUPERVISE_H
#define GS_SUPERVISE_H

#include "control.h"
#include "plan.h"

enum attempt_end { ATTEMPT_COMPLETE, ATTEMPT_INTERRUPTED, ATTEMPT_DIED, ATTEMPT_REFUSED };

struct attempt {
    int launch, attempt;
    enum attempt_end end;
    int code;      /* exit code to give when REFUSED */
    char kind[16]; /* DIED: crash, hang, lost */
    char why[512];
    char cell[PLAN_ID]; /* DIED: the cell it died in, "" before the first */
};

/* Runs one attempt of one launch to its end. Before it returns no process it started is left. */
int supervise(const struct plan *p, const char *dir, struct attempt *a);

#endif
