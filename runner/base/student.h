/* SPDX-License-Identifier: Apache-2.0
 *
 * Student's t distribution.
 */
#pragma once

/* P(T > t) with df > 0 degrees of freedom, which may be fractional; computed by the continued
 * fraction of the incomplete beta function (Lentz 1976). */
double student_tail(double t, double df);
/* The t >= 0 with student_tail(t, df) = tail, tail in (0, 0.5]. */
double student_quantile(double tail, double df);
