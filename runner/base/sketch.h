/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantiles of a stream of positive integers in bounded memory: exact up to SKETCH_EXACT values,
 * then with a relative error of at most 2^-13 (log-linear buckets, 4096 per octave). An octave with
 * values takes 16 KiB: about 64 KiB for times that vary by a factor of ten.
 */
#pragma once

#include <stdint.h>

#define SKETCH_EXACT 4096

struct sketch {
    uint64_t n, min, max;
    uint64_t *exact;       /* until n > SKETCH_EXACT */
    uint32_t *octaves[64]; /* afterwards: counts of the buckets of [2^e, 2^(e+1)); NULL: none */
};

void sketch_add(struct sketch *s, uint64_t value); /* zero *s before the first */
/* Quantile p in [0, 1], like stats_quantile; NaN if empty. */
double sketch_quantile(const struct sketch *s, double p);
void sketch_free(struct sketch *s);
