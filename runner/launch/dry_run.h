/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the conformance check of a plugin on two ranks in a temporary folder, and collects their
 * reports. rank/conformance.h is the part that the ranks run.
 *
 * A rank reports on stdout in lines "\x1e" "check RANK KIND TEXT". KIND is
 *   at      the next call; it locates a crash or a hang
 *   fault   a fault of the plugin
 *   note    information
 *   end     the exit code, from a rank that finished
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>

#define CONFORMANCE_MARK                                                                           \
    "\x1e"                                                                                         \
    "check "

#define DRY_RUN_RANKS 2
#define DRY_RUN_ALL ((1u << DRY_RUN_RANKS) - 1)
#define DRY_RUN_SILENCE_S 20 /* a call that takes longer hangs */
#define DRY_RUN_HEARD 64     /* lines of each kind that are stored */

struct heard {
    char *text;
    unsigned ranks; /* bit r: rank r reported it */
};

struct dry_run {
    struct text line;            /* incomplete line of output */
    char at[DRY_RUN_RANKS][256]; /* the last call of each rank; "" before the first */
    int ended[DRY_RUN_RANKS];    /* exit code; -1: not ended */
    bool hangs, interrupted;
    struct heard faults[DRY_RUN_HEARD], notes[DRY_RUN_HEARD];
    size_t n_faults, n_notes;
};

/* `plugin` is an absolute path; stderr of the ranks goes to `log`. Leaves no process behind. GS_OK
 * even if the plugin has faults, or GS_CANNOT, reported: the ranks cannot start. Call dry_run_free in
 * both cases. */
int dry_run(struct dry_run *d, const char *plugin, int log);
void dry_run_free(struct dry_run *d);
