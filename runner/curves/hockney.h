/* SPDX-License-Identifier: Apache-2.0
 *
 * Piecewise Hockney fits of time against size, t(n) = a + n/b: a is the latency, b the asymptotic
 * bandwidth, and a·b the size n½ that reaches half of b (Hockney 1994, Parallel Computing 20, 389).
 * Errors are relative: the fit minimises the squares of log t - log(a + n/b), so every octave has the
 * same weight. Pure functions.
 *
 * The number of pieces minimises the Bayesian information criterion N log(SSE/N) + p log N, with
 * p = 2 for each piece and 1 for each break. Dynamic programming over all breaks finds the best
 * pieces exactly. SSE/N is at least HOCKNEY_FLOOR², the error of a good clock, so that a curve
 * without noise does not break at every point.
 */
#pragma once

#include <stddef.h>

#define HOCKNEY_PIECES 6
#define HOCKNEY_LEAST 3 /* points of a piece at least: one more than its parameters */
#define HOCKNEY_FLOOR 0.01

struct hockney {
    double a_s;   /* >= 0 */
    double b_Bps; /* infinite where the time does not depend on the size */
    double sse;   /* of the logarithms */
};

struct piecewise {
    struct hockney piece[HOCKNEY_PIECES];
    size_t first[HOCKNEY_PIECES + 1]; /* piece i holds the points first[i] .. first[i+1]-1 */
    size_t n;                         /* 0: too few points */
    double error;                     /* in sample: root mean square of the logarithms */
};

double hockney_time(const struct hockney *h, double size);

/* Sizes must ascend. */
struct piecewise hockney_pieces(const double *size, const double *time, size_t n);

/* Out of sample: each point is predicted by its piece, fitted without that point. Root mean square of
 * the logarithms; NaN if no piece has a point to spare. */
double piecewise_error_out(const struct piecewise *p, const double *size, const double *time,
                           size_t n);
