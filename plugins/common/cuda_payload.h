/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs of an all-reduce on GPUs and its exact expected result, for every dtype. Pure host C.
 *
 * An element is one of PAYLOAD_PERIOD bit patterns, chosen by a hash of its index, so that a device
 * fills and checks buffers from a table of 16 words without knowing the dtype. The values are small
 * integers (times a power of two), so that every partial sum in every order is exact.
 *
 * In place, operation k reduces the result of operation k-1, so a sum grows by the number of ranks
 * each time. The result is still exact for integers, which wrap, and if the number of ranks is a
 * power of two: the sum then starts at the smallest exponent and ends at infinity, which is also
 * predicted. Otherwise payload_make() returns false, and the caller checks one more operation on
 * fresh data.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PAYLOAD_PERIOD 16

enum payload_type { PAY_FP32, PAY_FP16, PAY_BF16, PAY_INT32, PAY_FP64, PAY_E4M3, PAY_E5M2 };
enum payload_op { PAY_SUM, PAY_PROD, PAY_MAX, PAY_MIN, PAY_AVG };

/* A dtype: NCCL's number for it, the first NCCL version that has it (as from ncclGetVersion), and
 * its layout. exponent_bits 0: an integer. */
struct payload_dtype {
    const char *name;
    unsigned size_B;
    int nccl, nccl_since;
    int exponent_bits, mantissa_bits;
    int scale;      /* exponent of the smallest value that sums may start from */
    bool infinity;  /* the dtype has infinity */
    bool overflows; /* too large a result is infinity; for fp8, NCCL gives the largest number */
};
extern const struct payload_dtype payload_dtypes[]; /* by enum payload_type */

struct payload {
    unsigned element_B;
    uint64_t input[PAYLOAD_PERIOD], expected[PAYLOAD_PERIOD];
};

/* Inputs of this rank, and the result after `operations` >= 1. False: the result is not exact. */
bool payload_make(struct payload *p, enum payload_type type, enum payload_op op, int rank,
                  int ranks, bool in_place, uint64_t operations);
