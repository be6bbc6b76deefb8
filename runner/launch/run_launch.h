/* SPDX-License-Identifier: Apache-2.0
 *
 * One launch of a run folder, attempt after attempt until it lacks nothing.
 */
#ifndef GS_RUN_LAUNCH_H
#define GS_RUN_LAUNCH_H

#include "base/interrupts.h"
#include "launch/progress.h"
#include "plan/plan.h"

struct run_at {
    const struct plan *plan;
    const char *dir;
    struct interrupts *interrupts;
    struct progress *progress;
};

/* GS_OK: nothing is missing, be it measured, skipped or given up. Else the code that the run ends
 * with, reported: interrupted, refused, attempts that measured nothing. */
int run_launch(const struct run_at *r, int launch);

#endif
