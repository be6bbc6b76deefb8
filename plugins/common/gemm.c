/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gemm.h"

#include "common/rng.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 4096
#define PLACES 16

static void destroy(struct gemm *g)
{
    free(g->a);
    free(g->b);
    free(g->c);
    free(g);
}

static struct gemm *create(struct gemm_space space, uint64_t seed)
{
    struct gemm *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->space = space;
    float **operands[] = {&g->a, &g->b, &g->c};
    const size_t counts[] = {space.a, space.b, space.c};
    for (size_t i = 0; i < 3; i++) {
        size_t bytes = (counts[i] * sizeof(float) + ALIGN - 1) / ALIGN * ALIGN;
        *operands[i] = aligned_alloc(ALIGN, bytes);
        if (!*operands[i]) {
            destroy(g);
            return NULL;
        }
        for (size_t k = 0; k < counts[i]; k++)
            (*operands[i])[k] = (float)(int32_t)(rng_mix(rng_mix(seed + i) + k) >> 32) * 0x1p-31f;
    }
    return g;
}

static bool fits(const void *gemm, const void *space)
{
    const struct gemm_space *x = &((const struct gemm *)gemm)->space, *y = space;
    return x->a == y->a && x->b == y->b && x->c == y->c;
}

struct gemm *gemm_take(struct shared **list, struct gemm_space space, uint64_t seed)
{
    struct gemm *g = host_shared_take(*list, fits, &space);
    if (!g && (g = create(space, seed)))
        host_shared_add(list, g);
    return g;
}

void gemm_drop(struct shared **list, struct gemm *g)
{
    if (host_shared_drop(list, g))
        destroy(g);
}

void gemm_run(const struct gemm *g, const struct gemm_shape *s, unsigned times)
{
    int m = (int)s->m, n = (int)s->n, k = (int)s->k;
    for (unsigned i = 0; i < times; i++)
        cblas_sgemm(CblasRowMajor, s->transpose_a ? CblasTrans : CblasNoTrans,
                    s->transpose_b ? CblasTrans : CblasNoTrans, m, n, k, 1, g->a,
                    s->transpose_a ? m : k, g->b, s->transpose_b ? k : n, 0, g->c, n);
}

void gemm_poison(const struct gemm *g)
{
    memset(g->c, 0xff, g->space.c * sizeof *g->c); /* NaN */
}

/* Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., eq. 3.5: the error of an inner
 * product is at most about n u sum |a| |b| in any order of summation. */
static bool check_at(const struct gemm *g, const struct gemm_shape *s, size_t row, size_t column)
{
    double sum = 0, magnitude = 0;
    for (size_t k = 0; k < s->k; k++) {
        float a = g->a[s->transpose_a ? k * s->m + row : row * s->k + k];
        float b = g->b[s->transpose_b ? column * s->k + k : k * s->n + column];
        double term = (double)a * (double)b;
        sum += term;
        magnitude += fabs(term);
    }
    double bound = (double)(s->k + 1) * (double)FLT_EPSILON * magnitude;
    return fabs((double)g->c[row * s->n + column] - sum) <= bound;
}

bool gemm_check(const struct gemm *g, const struct gemm_shape *s)
{
    for (uint64_t i = 0; i < PLACES; i++)
        if (!check_at(g, s, rng_mix(i) % s->m, rng_mix(i + PLACES) % s->n))
            return false;
    return true;
}
