/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands out in one row of times against size, of one replicate or of the median of several:
 * what is left out before the fit, the fit's breaks and half-points, the dips. Which of it is said
 * of a curve is for transitions.c.
 */
#ifndef GS_FINDINGS_H
#define GS_FINDINGS_H

#include "curves/transitions.h"

/* The points kept, and the fit of those; trace_free. */
struct trace {
    double *size, *time; /* owned */
    size_t n;
    struct piecewise fit;
};

struct finding { /* where a feature stands in a trace */
    enum transition_kind kind;
    size_t first, last; /* kept points it lies between, or covers */
    double size, change;
    size_t piece; /* before it; of a fit or an n½: itself */
    bool within;  /* a dip that is not regained */
    bool jumps;   /* a kink with a jump in time */
    bool falls;   /* a kink with less bandwidth above */
};

struct findings {
    struct finding v[64];
    size_t n;
};

struct trace trace_of(const double *size, const double *time, size_t n);
void trace_free(struct trace *t);

/* How far the first row is above the four after it, by more than they differ among themselves; 0:
 * not so. The first alone pays for what is done once. */
double findings_first_row(const double *time, size_t n);

/* Leaves out of the trace what no fit should see, fits the rest; *f becomes all that was found.
 * first_row: its excess, 0 when it has none. known: the recordings say what ran, and no kinks are
 * looked for. */
void findings_see(struct trace *t, double first_row, bool known, struct findings *f);

#endif
