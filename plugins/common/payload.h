/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs of a collective with an exact result in any order of reduction, and the check of every
 * element of the output; and gradients in floats whose sum is known. Pure host C.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum payload_type { PAYLOAD_FP32, PAYLOAD_FP16, PAYLOAD_BF16, PAYLOAD_FP64 };

struct payload_dtype {
    const char *name;
    unsigned size_B;
    int nccl; /* NCCL's number for it */
    int exponent_bits, mantissa_bits;
    int scale; /* exponent of the smallest value that sums may start from */
};
extern const struct payload_dtype payload_dtypes[]; /* by enum payload_type */

/* ---- gradients ---- */

/* Gradients whose sum is known, random over elements and ranks:
 *   integers  nearly normal, and so small that every partial sum is exact in float: fp32 must give
 *             the exact sum, in whatever order it adds
 *   normal    floats: another order of addition gives other bits
 *   student3  floats with the heavy tail of Student's t with 3 degrees of freedom, as gradients have
 * They repeat after PAYLOAD_PERIOD elements, a prime, so that a block in the wrong place is found.
 * Element `first` of one synchronisation can be any element of the pattern: so gradients can be
 * fresh. */

#define PAYLOAD_PERIOD 1021
#define FLOATS_LARGEST 2046    /* largest magnitude of an input */
#define FLOATS_RANKS_MOST 8192 /* more ranks could exceed 2^24 in a sum */

enum payload_floats_kind { FLOATS_INTEGERS, FLOATS_NORMAL, FLOATS_STUDENT3, FLOATS_KINDS };

struct payload_floats {
    bool ready;
    float input[PAYLOAD_PERIOD]; /* of this rank */
    float sum[PAYLOAD_PERIOD];
    double largest; /* magnitude of an input of any rank */
};

void payload_floats_init(struct payload_floats *p, enum payload_floats_kind kind, int rank,
                         int ranks);
/* data[0..n) become elements [first, first + n) of the pattern. */
void payload_floats_fill(const struct payload_floats *p, float *data, size_t first, size_t n);

struct payload_floats_error {
    double rms, largest; /* absolute difference from the exact sum */
    double scale;        /* rms of the exact sum */
    size_t at;           /* element with the largest difference */
    float got, expected; /* there */
    uint64_t bits;       /* hash of the whole result */
};
struct payload_floats_error payload_floats_check(const struct payload_floats *p, const float *data,
                                                 size_t first, size_t n);

/* ---- collectives ---- */

/* Inputs of a collective and its exact expected sum, for every dtype.
 *
 * An element is one of PAYLOAD_WORDS bit patterns, chosen by a hash of its index, so that a device
 * fills and checks buffers from a table of 16 words without knowing the dtype. The values are small
 * integers (times a power of two), so that every partial sum in every order is exact.
 *
 * In place, operation k reduces the result of operation k-1, so a sum grows by the number of ranks
 * each time. The result is still exact if the number of ranks is a power of two: the sum then starts at
 * the smallest exponent and ends at infinity, which is also predicted. Otherwise payload_words_make()
 * returns false, and the caller checks one more operation on fresh data. */

#define PAYLOAD_WORDS 16

struct payload_words {
    unsigned element_B;
    uint64_t input[PAYLOAD_WORDS], expected[PAYLOAD_WORDS];
};

/* Inputs of this rank, and the result after `operations` >= 1. False: the result is not exact. With 1 as
 * `ranks`, the inputs of a collective that only copies. */
bool payload_words_make(struct payload_words *p, enum payload_type type, int rank, int ranks,
                        bool in_place, uint64_t operations);

/* fp32 or fp64 in the memory of the host; GPUs have kernels of their own. */
void payload_fill(const struct payload_words *p, void *buf, size_t count);

/* The first wrong element, for the error message. */
struct payload_fault {
    size_t element;
    double got, expected;
};
/* Is `buf` as expected? If not, *fault has the first wrong element. */
bool payload_check(const struct payload_words *p, const void *buf, size_t count,
                   struct payload_fault *fault);
