/* SPDX-License-Identifier: Apache-2.0 */
#include "common/payload.h"

#include "common/rng.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* clang-format off */
const struct payload_dtype payload_dtypes[] = {
    /*                 name        size nccl since exponent mantissa scale infinity overflows */
    [PAYLOAD_FP32]  = {"fp32",     4, 7,  0,     8,  23, -126,  true,    true},
    [PAYLOAD_FP16]  = {"fp16",     2, 6,  0,     5,  10, -24,   true,    true},
    [PAYLOAD_BF16]  = {"bf16",     2, 9,  0,     8,  7,  -126,  true,    true},
    [PAYLOAD_INT32] = {"int32",    4, 2,  0,     0,  31, 0,     false,   false},
    [PAYLOAD_FP64]  = {"fp64",     8, 8,  0,     11, 52, -1022, true,    true},
    [PAYLOAD_E4M3]  = {"fp8_e4m3", 1, 10, 22400, 4,  3,  -9,    false,   false},
    [PAYLOAD_E5M2]  = {"fp8_e5m2", 1, 11, 22400, 5,  2,  -16,   true,    false},
    [PAYLOAD_INT64] = {"int64",    8, 4,  0,     0,  63, 0,     false,   false},
    [PAYLOAD_UINT8] = {"uint8",    1, 1,  0,     0,  8,  0,     false,   false},
};
/* clang-format on */

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

/* m * 2^e; m is 0 only for an integer that wrapped to 0. */
struct number {
    uint64_t m;
    int64_t e;
};

enum fit { FITS, TOO_LARGE, INEXACT };

static int bias(const struct payload_dtype *d)
{
    return (1 << (d->exponent_bits - 1)) - 1;
}

static struct number odd(struct number n)
{
    while (n.m && !(n.m & 1)) {
        n.m >>= 1;
        n.e++;
    }
    return n;
}

/* Bits of n, which is exact or TOO_LARGE. */
static enum fit encode(const struct payload_dtype *d, struct number n, uint64_t *bits)
{
    if (!d->exponent_bits) {
        *bits = n.e >= 32 ? 0 : (uint32_t)(n.m << n.e);
        return FITS;
    }
    n = odd(n);
    int width = 64 - __builtin_clzll(n.m);
    int64_t top = n.e + width - 1, smallest = 1 - bias(d);
    int64_t last = (top < smallest ? smallest : top) - d->mantissa_bits;
    if (n.e < last)
        return INEXACT;
    if (top > (d->infinity ? bias(d) : bias(d) + 1)) {
        *bits = (uint64_t)((1 << d->exponent_bits) - 1) << d->mantissa_bits;
        return TOO_LARGE;
    }
    uint64_t fraction = n.m << (n.e - last);
    uint64_t exponent = top < smallest ? 0 : (uint64_t)(top + bias(d));
    if (exponent)
        fraction &= (1ull << d->mantissa_bits) - 1;
    *bits = exponent << d->mantissa_bits | fraction;
    /* The largest pattern of a type without infinity is its NaN. */
    bool nan = !d->infinity && *bits == (1ull << (d->exponent_bits + d->mantissa_bits)) - 1;
    return nan ? INEXACT : FITS;
}

/* The largest integer up to which all integers are exact. */
static uint64_t exact_limit(const struct payload_dtype *d)
{
    return 1ull << (d->exponent_bits ? d->mantissa_bits + 1 : d->mantissa_bits);
}

/* A sum's values are 1..span; 0: no such sum is exact. In place, multiples of the sum by up to
 * `ranks` must be exact too. */
static uint64_t sum_span(const struct payload_dtype *d, int ranks, bool in_place)
{
    uint64_t n = (uint64_t)ranks, limit = exact_limit(d) / n;
    uint64_t span = in_place && limit >= n ? limit / n : limit;
    return span > 8 ? 8 : span;
}

/* Exponents of two: 1 everywhere but on one rank, that depends on h; sparse on many ranks, so that
 * the product stays in range. */
static int64_t prod_exponent(const struct payload_dtype *d, int rank, int ranks, unsigned h)
{
    int room = d->exponent_bits ? bias(d) - 1 : 30;
    int sparse = (ranks + room - 2) / (room - 1);
    if (rank == (int)h % ranks)
        return h & 1 ? 0 : 2;
    return rank % sparse == 0 ? 1 : 0;
}

static struct number value(const struct payload_dtype *d, enum payload_op op, int rank, int ranks,
                           bool in_place, unsigned h)
{
    if (op == PAYLOAD_PROD)
        return (struct number){1, prod_exponent(d, rank, ranks, h)};
    uint64_t span = op == PAYLOAD_SUM || op == PAYLOAD_AVG ? sum_span(d, ranks, in_place) : 8;
    unsigned r = (unsigned)rank;
    return (struct number){1 + (r * 7 + h * 5 + r / 4) % (span ? span : 1),
                           op == PAYLOAD_SUM && in_place ? d->scale : 0};
}

static struct number combine(enum payload_op op, struct number a, struct number b)
{
    switch (op) {
    case PAYLOAD_PROD:
        return (struct number){1, a.e + b.e};
    case PAYLOAD_MAX:
        return a.m > b.m ? a : b;
    case PAYLOAD_MIN:
        return a.m < b.m ? a : b;
    default:
        return (struct number){a.m + b.m, a.e};
    }
}

/* One more operation on a result that every rank holds. */
static struct number again(const struct payload_dtype *d, enum payload_op op, struct number n,
                           int ranks)
{
    switch (op) {
    case PAYLOAD_SUM:
        n.m *= (uint64_t)ranks;
        if (!d->exponent_bits)
            n.m &= UINT32_MAX;
        return d->exponent_bits ? odd(n) : n;
    case PAYLOAD_PROD:
        n.e = n.e > 1 << 20 ? n.e : n.e * ranks;
        return n;
    default:
        return n;
    }
}

static bool expect(const struct payload_dtype *d, enum payload_op op, struct number n, int ranks,
                   uint64_t operations, uint64_t *bits)
{
    enum fit fit = encode(d, n, bits);
    /* Past 2^12 operations every sum and product has left every range, or wrapped to 0. */
    for (uint64_t k = 1; k < operations && k < 4096 && fit == FITS; k++) {
        struct number next = again(d, op, n, ranks);
        bool adds = op == PAYLOAD_SUM || op == PAYLOAD_AVG;
        if (adds && d->exponent_bits && odd(n).m > exact_limit(d) / (uint64_t)ranks)
            return false;
        n = next;
        fit = encode(d, n, bits);
    }
    return fit == FITS || (fit == TOO_LARGE && d->overflows);
}

bool payload_words_make(struct payload_words *p, enum payload_type type, enum payload_op op,
                        int rank, int ranks, bool in_place, uint64_t operations)
{
    const struct payload_dtype *d = &payload_dtypes[type];
    bool adds = op == PAYLOAD_SUM || op == PAYLOAD_AVG, exact = true;
    p->element_B = d->size_B;
    /* The mean of integers is truncated; that of others is exact only by powers of two. */
    if ((op == PAYLOAD_AVG && d->exponent_bits && ranks & (ranks - 1)) ||
        (adds && sum_span(d, ranks, in_place) == 0))
        return false;
    for (unsigned h = 0; h < PAYLOAD_WORDS; h++) {
        struct number all = value(d, op, 0, ranks, in_place, h);
        for (int r = 1; r < ranks; r++)
            all = combine(op, all, value(d, op, r, ranks, in_place, h));
        if (op == PAYLOAD_AVG && d->exponent_bits)
            all.e -= __builtin_ctz((unsigned)ranks);
        else if (op == PAYLOAD_AVG)
            all.m /= (uint64_t)ranks;
        exact &= encode(d, value(d, op, rank, ranks, in_place, h), &p->input[h]) == FITS;
        exact &= expect(d, op, all, ranks, in_place ? operations : 1, &p->expected[h]);
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
