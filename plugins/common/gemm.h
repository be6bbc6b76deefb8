/* SPDX-License-Identifier: Apache-2.0
 *
 * The computation of the host backend: C = A B, all n x n floats, A and B uniform in [-1, 1), by
 * the BLAS on one thread.
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

/* One of size n out of *list, made if there is none; NULL without memory. gemm_drop() undoes it. */
struct gemm *gemm_take(struct gemm **list, size_t n, uint64_t seed);
void gemm_drop(struct gemm **list, struct gemm *g);

void gemm_run(const struct gemm *g, unsigned times);
/* No element of C is a number after this. */
void gemm_poison(const struct gemm *g);
/* Is C, at places spread over it, A B to within the rounding of float? */
bool gemm_check(const struct gemm *g);

#endif
