/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients whose sum is known, random over elements and ranks:
 *   integers  nearly normal, and so small that every partial sum is exact in float: fp32 must give
 *             the exact sum, in whatever order it adds
 *   normal    floats: another order of addition gives other bits
 *   student3  floats with the heavy tail of Student's t with 3 degrees of freedom, as gradients have
 * They repeat after PATTERN_PERIOD elements, a prime, so a misplaced block is found. Element
 * `first` of one synchronisation can be any element of the pattern: so gradients can be fresh.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_PERIOD 1021
#define PATTERN_LARGEST 2046    /* largest magnitude of an input */
#define PATTERN_RANKS_MOST 8192 /* more ranks could exceed 2^24 in a sum */

enum pattern_kind { PATTERN_INTEGERS, PATTERN_NORMAL, PATTERN_STUDENT3, PATTERNS };

struct pattern {
    bool ready;
    float input[PATTERN_PERIOD]; /* of this rank */
    float sum[PATTERN_PERIOD];
    double largest; /* magnitude of an input of any rank */
};

void pattern_init(struct pattern *p, enum pattern_kind kind, int rank, int ranks);
/* The largest magnitude of WIRE_GROUP inputs over their rms, rms over groups. */
double pattern_peak(const struct pattern *p);
/* data[0..n) become elements [first, first + n) of the pattern. */
void pattern_fill(const struct pattern *p, float *data, size_t first, size_t n);

struct pattern_error {
    double rms, largest; /* absolute difference from the exact sum */
    double scale;        /* rms of the exact sum */
    size_t at;           /* element with the largest difference */
    float got, expected; /* there */
    uint64_t bits;       /* hash of the whole result */
};
struct pattern_error pattern_check(const struct pattern *p, const float *data, size_t first,
                                   size_t n);
/* Adds the error of each element to errors[0..n). Returns their rms. */
double pattern_add_errors(const struct pattern *p, const float *data, size_t first, size_t n,
                          float *errors);
