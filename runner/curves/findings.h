/* SPDX-License-Identifier: Apache-2.0
 *
 * The features of one row of times against size, of one replicate or of the median of several: the
 * points left out before the fit, the breaks and half-points of the fit, and the dips. transitions.c
 * decides which of them it reports.
 */
#pragma once

#include "curves/hockney.h"

#include <stdbool.h>
#include <stddef.h>

#define TRANSITIONS_LEAST 6 /* sizes of a curve, at least */
#define TRANSITION_JUMP 0.05
#define TRANSITION_DIP 0.05
#define TRANSITION_DIP_WIDE 32 /* the largest size of a dip over its smallest */
#define TRANSITION_SHALLOW 0.03
#define TRANSITION_SPIKE 0.08
#define TRANSITION_ARTEFACT 0.04

enum transition_kind {
    TRANSITION_FIRST_ROW,
    TRANSITION_SPIKED,
    TRANSITION_SWITCH,
    TRANSITION_CTAS,
    TRANSITION_KINK,
    TRANSITION_KNEE,
    TRANSITION_DIPPED,
    TRANSITION_FELL,
    TRANSITION_FIT,
    TRANSITION_REFUSED,
    TRANSITION_KINDS
};

/* The points that are left, and their fit; trace_free. */
struct trace {
    double *size, *time; /* owned */
    size_t n;
    struct piecewise fit;
};

struct finding { /* a feature of a trace */
    enum transition_kind kind;
    size_t first, last; /* points of the trace on both sides of it, or that it covers */
    double size, change;
    size_t piece; /* before a kink; the piece of a knee */
    bool jumps;   /* a kink: with a jump in time */
    bool falls;   /* a kink: with less bandwidth above */
};

struct findings {
    struct finding v[64];
    size_t n;
};

struct trace trace_of(const double *size, const double *time, size_t n);
void trace_free(struct trace *t);

/* How far the first row is above the four rows after it; 0 unless that is more than these differ. Only
 * the first row includes one-time costs. */
double findings_first_row(const double *time, size_t n);

/* Leaves points out of the trace that no fit should see, fits the rest, and replaces *f by all that it
 * finds. first_row: of findings_first_row. known: the recordings say what ran, so kinks are not looked
 * for. */
void findings_see(struct trace *t, double first_row, bool known, struct findings *f);
