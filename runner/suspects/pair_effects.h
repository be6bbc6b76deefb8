/* SPDX-License-Identifier: Apache-2.0
 *
 * Splits the log-times of pairs into what the ranks and what the links contribute:
 * y(a,b) = level + rank(a) + rank(b) + link(a,b), by medians (Tukey's median polish).
 *
 * A rank contributes what most of its pairs share, so that one slow link does not make its two ranks
 * slow: of an even number of pairs, the lower median counts. What is left of a pair is its link's.
 */
#pragma once

#include <stddef.h>

/* y[a * n + b] for a < b; NaN: not measured. rank[n] and link[n * n], for a < b, get the
 * contributions; NaN: none. */
void pair_effects(const double *y, size_t n, double *rank, double *link);
