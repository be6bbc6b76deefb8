/* SPDX-License-Identifier: Apache-2.0
 *
 * Plots curves over the sizes of a sweep with letters, for a terminal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct textplot_curve {
    char *name;
    double *y; /* one per size; NaN: none */
};

struct textplot {
    const char *title;
    const char *(*label)(char *buf, size_t n, double y); /* of the y axis, with its unit */
    bool log_y;
    int64_t *sizes; /* ascending, evenly spaced in the plot */
    size_t n_sizes;
    struct textplot_curve *curves; /* the first is on top */
    size_t n_curves;
};

#define TEXTPLOT_SIZES 3 /* of a curve, at least */
/* Prints the plot, 80 columns wide. Prints nothing for fewer sizes, or if no y is above 0. */
void textplot_print(const struct textplot *p);
void textplot_free(struct textplot *p); /* frees sizes, curves, names and ys */
