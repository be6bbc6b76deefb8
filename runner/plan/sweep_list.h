/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the lists and ranges of a workload section: the value of a key as the values of a parameter.
 *   a, b, c          8:128MiB:x2   (8, 16, 32 …)          1:9:+2   (1, 3, 5, 7, 9)
 * A range is for a numeric parameter and includes both ends. Ranges and values may be mixed.
 */
#pragma once

#include "config/config_entries.h"
#include "workload.h"

#define SWEEP_MAX 100000 /* cells of one section */

/* One parameter. Axes of one dimension advance together and have equal lengths. */
struct sweep_axis {
    const struct wl_param *p;
    const struct config_entry *from; /* NULL: the default */
    unsigned char *values;           /* n members of param_size(p) bytes */
    size_t n;
    size_t dim;
};

/* Fills axis->values and n from axis->from. GS_OK or GS_USAGE, reported. */
int sweep_list(struct sweep_axis *axis);

void sweep_push(struct sweep_axis *axis, const void *member);
