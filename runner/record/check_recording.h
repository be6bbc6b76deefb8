/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads one recording as a whole and checks every line: the running hash, order, ids, counts and
 * times (record.h), and that it belongs to its run. All readers go through this check first.
 */
#pragma once

#include "record/check_plan.h"
#include "record/raw.h"

#define CHECK_MAX_FAULTS 20 /* reported for one file */

struct check {
    const struct check_plan *plan; /* NULL: the file is not compared with a plan */
    const char *run_id;            /* NULL: of any run */
    /* Takes each line without a fault; may be NULL. */
    void (*line)(void *ctx, const struct raw_line *l);
    void *ctx;
};

/* GS_OK, or GS_FAILED with each fault reported. *torn: an incomplete last line was ignored. */
int check_recording(const char *path, const struct check *check, bool *torn);
