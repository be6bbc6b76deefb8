/* SPDX-License-Identifier: Apache-2.0
 *
 * A GEMM on the host, by BLAS on one thread: C (m x n) = op(A) op(B), floats stored by rows, A and B
 * uniform in [-1, 1).
 */
#pragma once

#include "common/host.h"

#include <stdint.h>

struct gemm_shape {
    size_t m, n, k;
    bool transpose_a, transpose_b;
};

/* Elements of the operands: of the largest GEMM that they are for. */
struct gemm_space {
    size_t a, b, c;
};

/* Operands, shared by the steps of equal space. */
struct gemm {
    struct shared shared;
    struct gemm_space space;
    float *a, *b, *c;
};

/* The operands of this space in *list, created if missing; NULL: out of memory. gemm_drop() releases
 * them. */
struct gemm *gemm_take(struct shared **list, struct gemm_space space, uint64_t seed);
void gemm_drop(struct shared **list, struct gemm *g);

void gemm_run(const struct gemm *g, const struct gemm_shape *shape, unsigned times);
/* Sets every element of C to NaN. */
void gemm_poison(const struct gemm *g);
/* Compares elements spread over C with the product, to within the rounding of float. */
bool gemm_check(const struct gemm *g, const struct gemm_shape *shape);
