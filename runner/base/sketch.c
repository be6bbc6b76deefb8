/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sketch.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BITS 12 /* of mantissa that a bucket keeps */

static int octave_of(uint64_t v)
{
    return 63 - __builtin_clzll(v | 1);
}

static void count(struct sketch *s, uint64_t v)
{
    int e = octave_of(v);
    uint64_t bucket = e > BITS ? (v >> (e - BITS)) : v << (BITS - e);
    if (!s->octaves[e])
        s->octaves[e] = xcalloc((size_t)1 << BITS, sizeof **s->octaves);
    s->octaves[e][bucket & ((1u << BITS) - 1)]++;
}

/* The middle of a bucket; values below 2^(BITS+1) have one each. */
static double bucket_value(int e, size_t i)
{
    double width = e > BITS ? ldexp(1, e - BITS) : 1;
    double low = ldexp((double)(((size_t)1 << BITS) + i), e - BITS);
    return low + (width - 1) / 2;
}

void sketch_add(struct sketch *s, uint64_t value)
{
    s->min = s->n == 0 || value < s->min ? value : s->min;
    s->max = value > s->max ? value : s->max;
    if (s->n < SKETCH_EXACT) {
        if (!s->exact)
            s->exact = xmalloc(SKETCH_EXACT * sizeof *s->exact);
        s->exact[s->n++] = value;
        return;
    }
    for (size_t i = 0; s->exact && i < SKETCH_EXACT; i++)
        count(s, s->exact[i]);
    free(s->exact);
    s->exact = NULL;
    count(s, value);
    s->n++;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The value of rank k, from 0. */
static double bucketed(const struct sketch *s, uint64_t k)
{
    if (k == 0 || k + 1 == s->n)
        return (double)(k == 0 ? s->min : s->max);
    uint64_t below = 0;
    for (int e = 0; e < 64; e++)
        for (size_t i = 0; s->octaves[e] && i < (size_t)1 << BITS; i++) {
            below += s->octaves[e][i];
            if (below > k)
                return bucket_value(e, i);
        }
    return (double)s->max;
}

static double ranked(const struct sketch *s, const uint64_t *sorted, uint64_t k)
{
    return sorted ? (double)sorted[k] : bucketed(s, k);
}

double sketch_quantile(const struct sketch *s, double p)
{
    if (!s->n)
        return NAN;
    AUTO_FREE uint64_t *sorted = NULL;
    if (s->exact) {
        sorted = xmalloc(s->n * sizeof *sorted);
        memcpy(sorted, s->exact, s->n * sizeof *sorted);
        qsort(sorted, s->n, sizeof *sorted, by_value);
    }
    double h = p * (double)(s->n - 1);
    uint64_t k = (uint64_t)h;
    double lo = ranked(s, sorted, k);
    double hi = k + 1 < s->n ? ranked(s, sorted, k + 1) : lo;
    return lo + (h - (double)k) * (hi - lo);
}

void sketch_free(struct sketch *s)
{
    free(s->exact);
    for (int e = 0; e < 64; e++)
        free(s->octaves[e]);
    *s = (struct sketch){0};
}
