/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the values of a family that are slower than the others. Pure functions of log-times.
 *
 * A family is a test of entities that should be equal: the GEMM of every GPU of one model. It has the
 * values of each entity in several rows (launches; of one launch, blocks).
 *
 * The slowest value is compared with the mean of the others, in units of the others' spread; then
 * the second slowest with those that are left, and so on for up to half of the family. The last
 * step with a p below alpha decides how many are slow, so that two slow ones do not hide each other
 * (generalised extreme Studentised deviate; Rosner 1983, Technometrics 25, 165; here one-sided). p
 * is that of Student's t, times the number of values that are left and the number of steps.
 *
 * The spread of the others is that between healthy entities, with the noise of measuring them. Few
 * entities say little about it. So it is moderated (Smyth 2004, Stat. Appl. Genet. Mol. Biol. 3, 3):
 * its square is averaged with the square of a usual spread, which counts as OUTLIERS_PRIOR degrees of
 * freedom. The usual spread is that of the rows and half the floor; with two entities it is the floor,
 * with 3 to 7 entities 1.3 times the floor. A spread that is larger than usual is not moderated.
 *
 * Only what exceeds the floor counts as slower: a smaller difference is of no use to anybody. And
 * the interval over the rows must exclude 0, so that one disturbed launch makes no suspect.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define OUTLIERS_FLOOR 0.01
#define OUTLIERS_PRIOR 4

struct family {
    size_t n, rows;
    const double *x; /* [row * n + entity], log-times; NaN: none in any row */
    size_t fitted; /* parameters taken from the same values before: of a pair, those of its ranks */
};

struct excess {
    double value;  /* log: over the others that are not slow */
    double lo, hi; /* 95% interval; NaN with one row */
    double p;      /* adjusted for the family */
    bool slow;
};

/* alpha: of the family. *seen: the excess that would have been found in 90% of cases; NaN: none,
 * because there are no others. */
void outliers_find(const struct family *f, double alpha, struct excess *out, double *seen);

/* The excess of each entity over its own past, whose rows are `past` (the same entities). */
void outliers_since(const struct family *now, const struct family *past, double alpha,
                    struct excess *out, double *seen);
