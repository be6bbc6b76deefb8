/* SPDX-License-Identifier: Apache-2.0
 *
 * What looks wrong about the step times of a command that has not failed.
 */
#pragma once

#include "plan/plan.h"
#include "train/train_slot.h"
#include "train/train_times.h"

/* Fewer have no warm-up (stats_warmup). One may be the whole of a benchmark. */
enum { TRAIN_STEPS_MIN = 8 };

/* By say(): the unit of the times cannot be right, or they are too few. took_s: of the command. */
void train_warn_times(const struct plan *p, const struct train_slot *s, const struct train_times *t,
                      double took_s);
/* A command that ends early may end well. most: the times of the longest start; log: its path. */
void train_warn_short(const struct plan *p, const struct train_slot *s, int launch, size_t most,
                      const char *log);
