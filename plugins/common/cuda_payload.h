/* SPDX-License-Identifier: Apache-2.0
 *
 * What an all-reduce is given and what it must give back, exactly, in every dtype. Pure host C.
 *
 * An element is one of PAYLOAD_PERIOD bit patterns, chosen by a hash of its index, so that a device
 * fills and checks buffers from a table of 16 words and knows nothing of dtypes. The values are
 * small integers (times a power of two), such that every partial sum of every order is exact.
 *
 * In place, operation k reduces what operation k-1 left: a sum grows by the number of ranks each
 * time. Its result is still exact when that number is a power of two (the sum starts at the bottom
 * of the exponent's range and ends, after enough operations, at infinity, which is also predicted),
 * and for integers, which wrap. Otherwise payload_make() says that it cannot be predicted, and
 * the caller checks one more operation on fresh data instead.
 */
#ifndef CUDA_PAYLOAD_H
#define CUDA_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAYLOAD_PERIOD 16

enum payload_type { PAY_FP32, PAY_FP16, PAY_BF16, PAY_INT32, PAY_FP64, PAY_E4M3, PAY_E5M2 };
enum payload_op { PAY_SUM, PAY_PROD, PAY_MAX, PAY_MIN, PAY_AVG };

/* A dtype: NCCL's number for it, the first NCCL that has it (as ncclGetVersion says it), and its
 * layout. exponent_bits 0: an integer. */
struct payload_dtype {
    const char *name;
    unsigned size_B;
    int nccl, nccl_since;
    int exponent_bits, mantissa_bits;
    int scale;      /* exponent of the smallest value that sums may start from */
    bool infinity;  /* it has one */
    bool overflows; /* a result too large is infinity: of fp8, NCCL makes the largest number */
};
extern const struct payload_dtype payload_dtypes[]; /* by enum payload_type */

struct payload {
    unsigned element_B;
    uint64_t input[PAYLOAD_PERIOD], expected[PAYLOAD_PERIOD];
};

/* Inputs of this rank, and the result after `operations` >= 1. False: it is not exact. */
bool payload_make(struct payload *p, enum payload_type type, enum payload_op op, int rank,
                  int ranks, bool in_place, uint64_t operations);

#endif
