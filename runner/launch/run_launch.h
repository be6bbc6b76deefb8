/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs one launch of a run folder: attempts until no group is missing.
 */
#pragma once

#include "base/interrupts.h"
#include "launch/progress.h"
#include "plan/plan.h"

struct run_at {
    const struct plan *plan;
    const char *dir;
    struct interrupts *interrupts;
    struct progress *progress;
    bool *cut;      /* set: a host is cut off, and what needs it cannot start */
    double start_s; /* longest start of an attempt of this run so far; 0: none began */
};

/* GS_OK: every group is measured, skipped or given up. Otherwise the exit code of the run, reported:
 * interrupted, refused, or repeated attempts that measured nothing. */
int run_launch(struct run_at *r, int launch);
