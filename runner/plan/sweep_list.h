/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists and ranges: the text of a key in a workload section as the values of one parameter.
 *   a, b, c          8:128MiB:x2   (8, 16, 32 …)          1:9:+2   (1, 3, 5, 7, 9)
 * Ranges are for numeric parameters, hold both ends' bounds, and may be mixed with values.
 */
#ifndef GS_SWEEP_LIST_H
#define GS_SWEEP_LIST_H

#include "plan/sweep.h"

/* Fills axis->values and n from axis->from, which stays set. GS_OK or GS_USAGE, reported. */
int sweep_list(struct sweep_axis *axis);

void sweep_push(struct sweep_axis *axis, const void *member);

#endif
