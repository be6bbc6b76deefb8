/* SPDX-License-Identifier: Apache-2.0
 *
 * Draws one panel of curves of a run on a terminal: one mode, one value of every axis except size,
 * one curve per config.
 */
#pragma once

#include "reduce/summary.h"

struct show_curve {
    struct show_point {
        const struct rec_cell *cell; /* belongs to a struct recorded that outlives this */
        double time_s, busbw;        /* NaN: none */
        char *panel;                 /* mode and axes: points of a panel are drawn together */
    } * v;
    size_t n;
};

void show_curve_add(struct show_curve *c, const struct rec_cell *cell, const struct summary *m);
/* Draws the panel with the most points, of several the last: a training step's modes end with the
 * overlapped one. Bus bandwidth where it has one, else time. Without enough sizes for a curve, says
 * where the axes of the run are printed. `axes`: keys that may distinguish panels. */
void show_curve_print(const struct show_curve *c, const struct words *axes);
void show_curve_free(struct show_curve *c);
