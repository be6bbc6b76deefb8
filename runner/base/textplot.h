/* SPDX-License-Identifier: Apache-2.0
 *
 * A small plot of letters for a terminal: a few curves over the sizes of a sweep.
 */
#ifndef GS_TEXTPLOT_H
#define GS_TEXTPLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct textplot_curve {
    char *name;
    double *y; /* one a size; NaN: none */
};

struct textplot {
    const char *title;
    const char *(*label)(char *buf, size_t n, double y); /* of the y axis, with its unit */
    bool log_y;
    int64_t *sizes; /* ascending, evenly spaced in the plot */
    size_t n_sizes;
    struct textplot_curve *curves; /* where two meet, the first is seen */
    size_t n_curves;
};

/* To stdout, 80 columns wide; nothing when there is nothing to see: fewer than three sizes, or no
 * y above 0. */
void textplot_print(const struct textplot *p);
void textplot_free(struct textplot *p); /* sizes, curves, names and ys */

#endif
