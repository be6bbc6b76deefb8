/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantiles of a stream of positive integers in bounded memory: exact up to SKETCH_EXACT values,
 * beyond that within a relative 2^-13 (log-linear buckets, 4096 an octave), at most 2 MiB.
 */
#ifndef GS_SKETCH_H
#define GS_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#define SKETCH_EXACT 4096

struct sketch {
    uint64_t n, min, max;
    double *exact;     /* until n > SKETCH_EXACT */
    uint32_t *buckets; /* afterwards; see sketch.c */
};

void sketch_add(struct sketch *s, uint64_t value);
double sketch_quantile(const struct sketch *s, double p); /* NaN when empty */
void sketch_free(struct sketch *s);

#endif
