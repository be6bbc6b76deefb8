/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a job left something unmeasured, and what to do: from what Slurm says of it and from the end
 * of its log, which is there when Slurm has forgotten.
 */
#ifndef GS_REASON_H
#define GS_REASON_H

#include "cluster/slurm.h"

#include <stdbool.h>
#include <stddef.h>

struct reason {
    char why[256], remedy[160];
};

/* Of a job that waits. True: it is held until resume releases it. */
bool reason_waits(struct reason *r, const struct job *j);
/* Of one that ended; `state` NULL: Slurm does not know it. `log`: its path. */
void reason_ended(struct reason *r, const char *state, const char *log);
/* Of a cell that failed, by the kind of its fail line. */
const char *reason_failed(const char *kind);

#endif
