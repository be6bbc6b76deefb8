/* SPDX-License-Identifier: Apache-2.0
 *
 * The values that a workload section gives its plugin's parameters, and their product. plan.h
 * describes the syntax.
 */
#pragma once

#include "plan/sweep_exclude.h"
#include "plan/sweep_list.h"

#include <stdbool.h>
#include <stddef.h>

struct sweep {
    const struct wl_plugin *wl;
    void *defaults;          /* a cell struct */
    struct sweep_axis *axes; /* one per parameter, in table order */
    size_t n_axes;
    /* Of each dimension. Dimensions are numbered as axes; an unused one has length 1. */
    size_t *lengths, *strides;
    struct sweep_excludes excludes;
};

/* GS_OK or GS_USAGE, every fault reported: unknown key, invalid value, empty sweep, value twice,
 * unequal zip ... Call sweep_free() in both cases. */
int sweep_read(struct sweep *s, const struct config *c, const char *section,
               const struct wl_plugin *wl);
void sweep_free(struct sweep *s);

/* The size of the full product, and its i-th cell; the last parameter of the table varies fastest.
 * False: the cell is filled but excluded. */
size_t sweep_count(const struct sweep *s);
bool sweep_cell(const struct sweep *s, size_t i, void *cell);
