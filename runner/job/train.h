/* SPDX-License-Identifier: Apache-2.0
 *
 * An attempt at one launch of [train]: its command once for each cell, and twice for the baseline of
 * a comparison, in random order within each group (plan/plan.h). The recording is that of other
 * workloads (record.h): a block holds the times of one or several steps, and each cell has a note
 * `launched` after its blocks. A command that failed has a fail line and is not tried again. An
 * attempt that resumes a launch copies the cells that earlier attempts have measured. */
#pragma once

#include "base/family.h"
#include "plan/plan.h"

#include <stdbool.h>

/* GS_OK, or reported: the folder cannot be written, or no process can be made. *complete is false if
 * a signal ended it. */
int train_launch(const struct plan *p, const char *dir, struct interrupts *i, int launch,
                 int attempt, bool *complete);
