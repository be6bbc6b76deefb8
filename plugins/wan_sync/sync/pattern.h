/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients whose sum is known exactly. They are integers with a nearly normal distribution around
 * 0, random over elements and ranks, and so small that every partial sum is exact in float. They
 * repeat after PATTERN_PERIOD elements, a prime, so a misplaced block is found. fp32 must give the
 * exact sum; lossy formats are compared with it.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_PERIOD 1021
#define PATTERN_LARGEST 2046    /* largest magnitude of an input */
#define PATTERN_RANKS_MOST 8192 /* more ranks could exceed 2^24 in a sum */

struct pattern {
    float input[PATTERN_PERIOD]; /* of this rank */
    float sum[PATTERN_PERIOD];
};

void pattern_init(struct pattern *p, int rank, int ranks);
/* data[0..n) are elements [first, first + n) of the vector. */
void pattern_fill(const struct pattern *p, float *data, size_t first, size_t n);

struct pattern_error {
    double rms, largest; /* absolute difference from the exact sum */
    double scale;        /* rms of the exact sum */
    size_t at;           /* element with the largest difference */
    float got, expected; /* there */
    uint64_t bits;       /* hash of the whole result */
};
struct pattern_error pattern_check(const struct pattern *p, const float *data, size_t n);

#endif
