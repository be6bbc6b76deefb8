/* SPDX-License-Identifier: Apache-2.0 */
#include "common/payload.h"

#include "common/rng.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

const struct payload_dtype payload_dtypes[] = {
    [PAYLOAD_FP32] = {"fp32", 4, 7, 8, 23, -126},
    [PAYLOAD_FP16] = {"fp16", 2, 6, 5, 10, -24},
    [PAYLOAD_BF16] = {"bf16", 2, 9, 8, 7, -126},
    [PAYLOAD_FP64] = {"fp64", 8, 8, 11, 52, -1022},
};

/* ==== gradients ==== */

/* The sum of four uniform integers, less its mean. */
static double integer(uint64_t r)
{
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (int)(r >> (16 * i) & 1023);
    return sum - FLOATS_LARGEST;
}

/* Box and Muller 1958. */
static double normal(uint64_t r)
{
    double u = ((double)(rng_mix(r) >> 11) + 0.5) * 0x1p-53,
           v = (double)(rng_mix(~r) >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

static double student3(uint64_t r)
{
    double squares = 0;
    for (uint64_t i = 1; i <= 3; i++)
        squares += pow(normal(r + i), 2);
    return normal(r) / sqrt(squares / 3);
}

static double (*const number_of[FLOATS_KINDS])(uint64_t) = {
    [FLOATS_INTEGERS] = integer, [FLOATS_NORMAL] = normal, [FLOATS_STUDENT3] = student3};

void payload_floats_init(struct payload_floats *p, enum payload_floats_kind kind, int rank,
                         int ranks)
{
    *p = (struct payload_floats){.ready = true};
    for (size_t e = 0; e < PAYLOAD_PERIOD; e++) {
        double sum = 0;
        for (int r = 0; r < ranks; r++) {
            float x = (float)number_of[kind](rng_mix(rng_mix(e) + (uint64_t)r));
            sum += (double)x;
            p->largest = fmax(p->largest, fabs((double)x));
            if (r == rank)
                p->input[e] = x;
        }
        p->sum[e] = (float)sum;
    }
}

static size_t run_of(size_t at, size_t left)
{
    size_t n = PAYLOAD_PERIOD - at % PAYLOAD_PERIOD;
    return n < left ? n : left;
}

void payload_floats_fill(const struct payload_floats *p, float *data, size_t first, size_t n)
{
    for (size_t done = 0, m; done < n; done += m) {
        m = run_of(first + done, n - done);
        memcpy(data + done, p->input + (first + done) % PAYLOAD_PERIOD, m * sizeof *data);
    }
}

/* One period or less; NaN is the largest difference there is. */
static void add_run(struct payload_floats_error *e, const float *sum, const float *data, size_t at,
                    size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)data[at + i] - (double)sum[i]);
        e->rms += d * d;
        if (d <= e->largest)
            continue;
        e->largest = isnan(d) ? INFINITY : d;
        e->at = at + i;
        e->got = data[at + i];
        e->expected = sum[i];
    }
}

static uint64_t hash(uint64_t h, const float *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t u;
        memcpy(&u, data + i, sizeof u);
        h = (h ^ u) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

static double rms(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum / (double)n);
}

struct payload_floats_error payload_floats_check(const struct payload_floats *p, const float *data,
                                                 size_t first, size_t n)
{
    struct payload_floats_error e = {0};
    for (size_t at = 0, m; at < n; at += m) {
        m = run_of(first + at, n - at);
        const float *sum = p->sum + (first + at) % PAYLOAD_PERIOD;
        if (memcmp(data + at, sum, m * sizeof *sum) != 0)
            add_run(&e, sum, data, at, m);
        e.bits = hash(e.bits, data + at, m);
    }
    e.rms = sqrt(e.rms / (double)n);
    e.scale = rms(p->sum, n < PAYLOAD_PERIOD ? n : PAYLOAD_PERIOD);
    return e;
}

/* ==== collectives ==== */

/* m * 2^e, m > 0 */
struct number {
    uint64_t m;
    int64_t e;
};

enum fit { FITS, TOO_LARGE, INEXACT };

static struct number odd(struct number n)
{
    while (!(n.m & 1)) {
        n.m >>= 1;
        n.e++;
    }
    return n;
}

/* Bits of n, which is exact or TOO_LARGE: infinity. */
static enum fit encode(const struct payload_dtype *d, struct number n, uint64_t *bits)
{
    const int bias = (1 << (d->exponent_bits - 1)) - 1;
    n = odd(n);
    int width = 64 - __builtin_clzll(n.m);
    int64_t top = n.e + width - 1, smallest = 1 - bias;
    int64_t last = (top < smallest ? smallest : top) - d->mantissa_bits;
    if (n.e < last)
        return INEXACT;
    if (top > bias) {
        *bits = (uint64_t)((1 << d->exponent_bits) - 1) << d->mantissa_bits;
        return TOO_LARGE;
    }
    uint64_t fraction = n.m << (n.e - last);
    uint64_t exponent = top < smallest ? 0 : (uint64_t)(top + bias);
    if (exponent)
        fraction &= (1ull << d->mantissa_bits) - 1;
    *bits = exponent << d->mantissa_bits | fraction;
    return FITS;
}

/* The sum of all after so many operations; each multiplies it by the ranks. */
static bool expect(const struct payload_dtype *d, struct number sum, uint64_t ranks,
                   uint64_t operations, uint64_t *bits)
{
    enum fit fit = encode(d, sum, bits);
    /* Past 2^12 operations every sum has left every range. */
    for (uint64_t k = 1; k < operations && k < 4096 && fit == FITS; k++) {
        if (odd(sum).m > (1ull << (d->mantissa_bits + 1)) / ranks)
            return false;
        sum.m *= ranks;
        sum = odd(sum);
        fit = encode(d, sum, bits);
    }
    return fit != INEXACT;
}

static uint64_t value(unsigned rank, unsigned h, uint64_t span)
{
    return 1 + (rank * 7 + h * 5 + rank / 4) % (span > 8 ? 8 : span);
}

bool payload_words_make(struct payload_words *p, enum payload_type type, int rank, int ranks,
                        bool in_place, uint64_t operations)
{
    const struct payload_dtype *d = &payload_dtypes[type];
    /* Values are 1..span, so that the sum is below the first integer that is not exact; in place, its
     * multiples by up to `ranks` too. */
    uint64_t n = (uint64_t)ranks, limit = (1ull << (d->mantissa_bits + 1)) / n;
    uint64_t span = in_place && limit >= n ? limit / n : limit;
    bool exact = true;
    p->element_B = d->size_B;
    if (span == 0)
        return false;
    for (unsigned h = 0; h < PAYLOAD_WORDS; h++) {
        int64_t e = in_place ? d->scale : 0;
        struct number mine = {value((unsigned)rank, h, span), e}, all = {0, e};
        for (unsigned r = 0; r < n; r++)
            all.m += value(r, h, span);
        exact &= encode(d, mine, &p->input[h]) == FITS;
        exact &= expect(d, all, n, in_place ? operations : 1, &p->expected[h]);
    }
    return exact;
}

/* ==== in the memory of the host ==== */

static unsigned pattern(size_t i)
{
    return (unsigned)(i * UINT64_C(0x9E3779B97F4A7C15) >> 60);
}

void payload_fill(const struct payload_words *p, void *buf, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t wide = p->input[pattern(i)];
        const uint32_t narrow = (uint32_t)wide;
        if (p->element_B == sizeof wide)
            memcpy((char *)buf + i * sizeof wide, &wide, sizeof wide);
        else
            memcpy((char *)buf + i * sizeof narrow, &narrow, sizeof narrow);
    }
}

static double number_at(const void *at, size_t element_B)
{
    double wide;
    float narrow;
    if (element_B == sizeof wide)
        return memcpy(&wide, at, sizeof wide), wide;
    return memcpy(&narrow, at, sizeof narrow), (double)narrow;
}

bool payload_check(const struct payload_words *p, const void *buf, size_t count,
                   struct payload_fault *fault)
{
    for (size_t i = 0; i < count; i++) {
        const char *got = (const char *)buf + i * p->element_B;
        const uint64_t wide = p->expected[pattern(i)];
        const uint32_t narrow = (uint32_t)wide;
        const bool eight = p->element_B == sizeof wide;
        const void *want = eight ? (const void *)&wide : &narrow;
        if (eight ? memcmp(got, want, sizeof wide) : memcmp(got, want, sizeof narrow)) {
            *fault = (struct payload_fault){i, number_at(got, p->element_B),
                                            number_at(want, p->element_B)};
            return false;
        }
    }
    return true;
}
