/* SPDX-License-Identifier: Apache-2.0 */
#include "suspects/pair_effects.h"

#include "base/stats.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>

#define PASSES 20

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double lower_median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, ascending);
    return n ? x[(n - 1) / 2] : NAN;
}

static double at(const double *y, size_t n, size_t a, size_t b)
{
    return a < b ? y[a * n + b] : y[b * n + a];
}

/* Where to start: of three pairs, two are of one slow rank. */
static double fast_level(const double *y, size_t n, double *scratch)
{
    size_t k = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            if (isfinite(y[a * n + b]))
                scratch[k++] = y[a * n + b];
    qsort(scratch, k, sizeof *scratch, ascending);
    return k ? scratch[(k - 1) / 4] : NAN;
}

static double contribution(const double *y, size_t n, size_t a, double level, const double *rank,
                           double *scratch)
{
    size_t k = 0;
    for (size_t b = 0; b < n; b++)
        if (a != b && isfinite(at(y, n, a, b)))
            scratch[k++] = at(y, n, a, b) - level - rank[b];
    return lower_median(scratch, k);
}

static double centre(double *rank, size_t n, double *scratch)
{
    size_t k = 0;
    for (size_t a = 0; a < n; a++)
        if (isfinite(rank[a]))
            scratch[k++] = rank[a];
    double c = stats_quantile_of(scratch, k, 0.5);
    for (size_t a = 0; a < n; a++)
        rank[a] -= c;
    return c;
}

void pair_effects(const double *y, size_t n, double *rank, double *link)
{
    double *scratch = xcalloc(n * n + 1, sizeof *scratch);
    double level = fast_level(y, n, scratch);
    for (size_t a = 0; a < n; a++)
        rank[a] = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        for (size_t a = 0; a < n; a++) {
            double r = contribution(y, n, a, level, rank, scratch);
            rank[a] = isfinite(r) || pass == PASSES - 1 ? r : 0;
        }
        level += 2 * centre(rank, n, scratch);
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            link[a * n + b] = y[a * n + b] - level - rank[a] - rank[b];
    free(scratch);
}
