/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantiles of a stream of positive integers in bounded memory: exact up to SKETCH_EXACT values,
 * beyond that within a relative 2^-13 (log-linear buckets, 4096 an octave). Only octaves that hold
 * values take memory, 16 KiB each: some 64 KiB for times that vary by a factor of ten.
 */
#ifndef GS_SKETCH_H
#define GS_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#define SKETCH_EXACT 4096

struct sketch {
    uint64_t n, min, max;
    uint64_t *exact;       /* until n > SKETCH_EXACT */
    uint32_t *octaves[64]; /* afterwards: counts of the buckets of [2^e, 2^(e+1)); NULL: none */
};

void sketch_add(struct sketch *s, uint64_t value); /* *s zeroed before the first */
/* Quantile p in [0, 1], as stats_quantile; NaN when empty. */
double sketch_quantile(const struct sketch *s, double p);
void sketch_free(struct sketch *s);

#endif
