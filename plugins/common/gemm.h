/* SPDX-License-Identifier: Apache-2.0
 *
 * A GEMM on the host, by BLAS on one thread: C = A B, all n x n floats, A and B uniform in [-1, 1).
 */
#ifndef GEMM_H
#define GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Operands, shared by the steps of equal n. */
struct gemm {
    struct gemm *next;
    size_t n;
    unsigned users;
    float *a, *b, *c;
};

uint64_t gemm_bytes(size_t n);

/* The GEMM of size n in *list, created if missing; NULL: out of memory. gemm_drop() releases it. */
struct gemm *gemm_take(struct gemm **list, size_t n, uint64_t seed);
void gemm_drop(struct gemm **list, struct gemm *g);

void gemm_run(const struct gemm *g, unsigned times);
/* Sets every element of C to NaN. */
void gemm_poison(const struct gemm *g);
/* Compares elements spread over C with A B, to within the rounding of float. */
bool gemm_check(const struct gemm *g);

#endif
