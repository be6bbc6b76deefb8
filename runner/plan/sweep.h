/* SPDX-License-Identifier: Apache-2.0
 *
 * The values that a workload section gives its plugin's parameters, and their product. The syntax
 * is told in plan.h.
 */
#ifndef GS_SWEEP_H
#define GS_SWEEP_H

#include "config/config.h"
#include "workload.h"

#include <stdbool.h>
#include <stddef.h>

#define SWEEP_MAX 100000 /* cells of one section */

/* One parameter. Axes of one dimension advance together and have equal lengths. */
struct sweep_axis {
    const struct wl_param *p;
    const struct config_entry *from; /* NULL: the default */
    unsigned char *values;           /* n members of param_size(p) bytes */
    size_t n;
    size_t dim;
};

struct sweep_term {
    size_t axis;
    unsigned char *value; /* a member */
};

struct sweep_clause {
    struct sweep_term *terms;
    size_t n;
};

struct sweep {
    const struct wl_plugin *wl;
    void *defaults;          /* a cell struct */
    struct sweep_axis *axes; /* one a parameter, table order */
    size_t n_axes;
    size_t *lengths,
        *strides; /* of dimension d; dimensions are numbered as axes, some unused (1) */
    struct sweep_clause *excludes;
    size_t n_excludes;
};

/* GS_OK or GS_USAGE, every fault reported: unknown key, value that is refused, empty sweep, value
 * twice, unequal zip, ... Call sweep_free() in either case. */
int sweep_read(struct sweep *s, const struct config *c, const char *section,
               const struct wl_plugin *wl);
void sweep_free(struct sweep *s);

struct sweep_axis *sweep_axis(const struct sweep *s, const char *name); /* or NULL */

/* Cells of the full product, and the i-th of them, the last parameter of the table fastest. False:
 * excluded; the cell is filled all the same. */
size_t sweep_count(const struct sweep *s);
bool sweep_cell(const struct sweep *s, size_t i, void *cell);

#endif
