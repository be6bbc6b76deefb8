/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients whose sum is known exactly: integers, distributed nearly like normal ones around 0 as
 * gradients are, random over elements and ranks, and small enough that every partial sum is exact
 * in float. They repeat after PATTERN_PERIOD elements, a prime, so that a block in another block's
 * place is found. A lossy wire is held against the exact sum, fp32 must be it.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_PERIOD 1021
#define PATTERN_LARGEST 2046    /* of an input, as magnitude */
#define PATTERN_RANKS_MOST 8192 /* whose sum stays below 2^24 */

struct pattern {
    float input[PATTERN_PERIOD]; /* of this rank */
    float sum[PATTERN_PERIOD];
};

void pattern_init(struct pattern *p, int rank, int ranks);
/* data[0..n) are elements [first, first + n) of the vector. */
void pattern_fill(const struct pattern *p, float *data, size_t first, size_t n);

struct pattern_error {
    double rms, largest; /* of the difference to the exact sum, absolute */
    double scale;        /* rms of the exact sum */
    size_t at;           /* where it is largest */
    float got, expected; /* there */
    uint64_t bits;       /* a hash of all of it */
};
struct pattern_error pattern_check(const struct pattern *p, const float *data, size_t n);

#endif
