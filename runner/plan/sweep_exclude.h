/* SPDX-License-Identifier: Apache-2.0
 *
 * `exclude = dtype=int32 op=max, size=8`: a section leaves out each cell that matches all terms of
 * one clause.
 */
#pragma once

#include "config/config_entries.h"
#include "workload.h"

#include <stdbool.h>
#include <stddef.h>

struct sweep_term {
    const struct wl_param *p;
    unsigned char *value; /* param_size(p) bytes */
};

struct sweep_clause {
    struct sweep_term *terms;
    size_t n;
};

struct sweep_excludes {
    struct sweep_clause *v;
    size_t n;
};

/* GS_OK or GS_USAGE, every fault reported; call sweep_free_excludes in both cases. */
int sweep_read_excludes(struct sweep_excludes *x, const struct wl_param *params,
                        const struct config_entry *e);
bool sweep_excluded(const struct sweep_excludes *x, const void *cell);
void sweep_free_excludes(struct sweep_excludes *x);
