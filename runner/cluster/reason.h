/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells why a job left cells unmeasured, and the remedy. Sources are the state in Slurm and the end
 * of the job's log, which outlives Slurm's memory of the job.
 */
#pragma once

#include "cluster/slurm.h"

#include <stdbool.h>

struct reason {
    char why[256], remedy[160];
};

/* For a waiting job. True: it is held until resume releases it. */
bool reason_waits(struct reason *r, const struct job *j);
/* For an ended job. `state` is NULL if Slurm no longer knows it; `log` is a path. */
void reason_ended(struct reason *r, const char *state, const char *log);
/* Remedy for a failed cell, by the kind of its fail line. */
const char *reason_failed(const char *kind);
