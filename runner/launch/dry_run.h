/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin tried on two ranks, in a folder of their own: what was heard of them, and what they
 * left. The ranks' side of it is rank/conformance.h.
 *
 * A rank reports on stdout (rank/conformance.h), in lines "\x1e" "check RANK KIND TEXT". KIND is
 *   at      the call that is made next, so that a death or a hang has a place
 *   fault   what is wrong
 *   note    what is worth knowing
 *   end     the exit code, of a rank that came to the end
 */
#ifndef GS_DRY_RUN_H
#define GS_DRY_RUN_H

#include "base/text.h"

#include <stdbool.h>

#define CONFORMANCE_MARK                                                                           \
    "\x1e"                                                                                         \
    "check "

#define DRY_RUN_RANKS 2
#define DRY_RUN_ALL ((1u << DRY_RUN_RANKS) - 1)
#define DRY_RUN_SILENCE_S 20 /* a call that lasts longer hangs */
#define DRY_RUN_HEARD 64     /* lines of a kind; more are not kept */

struct heard {
    char *text;
    unsigned ranks; /* bit r: rank r said it */
};

struct dry_run {
    struct text line;            /* not yet whole */
    char at[DRY_RUN_RANKS][256]; /* the call that each rank was last in; "" before the first */
    int ended[DRY_RUN_RANKS];    /* exit code; set to -1 before: not ended */
    bool hangs, interrupted;
    struct heard faults[DRY_RUN_HEARD], notes[DRY_RUN_HEARD];
    size_t n_faults, n_notes;
};

/* `plugin` is absolute; stderr of the ranks goes to `log`. No process of it is left. GS_OK,
 * whatever was heard, or reported: the ranks cannot be started (GS_CANNOT). dry_run_free in both
 * cases. */
int dry_run(struct dry_run *d, const char *plugin, int log);
void dry_run_free(struct dry_run *d);

#endif
