/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gemm.h"

#include "common/mix.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 4096
#define PLACES 16

uint64_t gemm_bytes(size_t n)
{
    uint64_t one = (uint64_t)n * n * sizeof(float);
    return 3 * ((one + ALIGN - 1) / ALIGN * ALIGN);
}

static void randomise(float *m, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        m[i] = (float)(int32_t)(mix(mix(seed) + i) >> 32) * 0x1p-31f;
}

static void destroy(struct gemm *g)
{
    free(g->a);
    free(g->b);
    free(g->c);
    free(g);
}

static struct gemm *create(size_t n, uint64_t seed)
{
    struct gemm *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->n = n;
    float **operands[] = {&g->a, &g->b, &g->c};
    for (size_t i = 0; i < 3; i++) {
        *operands[i] = aligned_alloc(ALIGN, (size_t)gemm_bytes(n) / 3);
        if (!*operands[i]) {
            destroy(g);
            return NULL;
        }
        randomise(*operands[i], n * n, seed + i);
    }
    return g;
}

struct gemm *gemm_take(struct gemm **list, size_t n, uint64_t seed)
{
    struct gemm *g = *list;
    while (g && g->n != n)
        g = g->next;
    if (!g && (g = create(n, seed))) {
        g->next = *list;
        *list = g;
    }
    if (g)
        g->users++;
    return g;
}

void gemm_drop(struct gemm **list, struct gemm *g)
{
    if (!g || --g->users > 0)
        return;
    while (*list != g)
        list = &(*list)->next;
    *list = g->next;
    destroy(g);
}

void gemm_run(const struct gemm *g, unsigned times)
{
    int n = (int)g->n;
    for (unsigned i = 0; i < times; i++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, g->a, n, g->b, n, 0,
                    g->c, n);
}

void gemm_poison(const struct gemm *g)
{
    memset(g->c, 0xff, g->n * g->n * sizeof *g->c); /* NaN */
}

/* Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., eq. 3.5: the error of an inner
 * product is at most about n u sum |a| |b| in any order of summation. */
static bool check_at(const struct gemm *g, size_t row, size_t column)
{
    double sum = 0, magnitude = 0;
    for (size_t k = 0; k < g->n; k++) {
        double term = (double)g->a[row * g->n + k] * (double)g->b[k * g->n + column];
        sum += term;
        magnitude += fabs(term);
    }
    double bound = (double)(g->n + 1) * (double)FLT_EPSILON * magnitude;
    return fabs((double)g->c[row * g->n + column] - sum) <= bound;
}

bool gemm_check(const struct gemm *g)
{
    for (uint64_t i = 0; i < PLACES; i++)
        if (!check_at(g, mix(i) % g->n, mix(i + PLACES) % g->n))
            return false;
    return true;
}
