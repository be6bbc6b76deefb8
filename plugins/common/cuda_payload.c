/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cuda_payload.h"

/* clang-format off */
const struct payload_dtype payload_dtypes[] = {
    /*             size nccl since  exponent mantissa scale infinity overflows */
    [PAY_FP32]  = {"fp32",     4, 7,  0,     8,  23, -126,  true,    true},
    [PAY_FP16]  = {"fp16",     2, 6,  0,     5,  10, -24,   true,    true},
    [PAY_BF16]  = {"bf16",     2, 9,  0,     8,  7,  -126,  true,    true},
    [PAY_INT32] = {"int32",    4, 2,  0,     0,  31, 0,     false,   false},
    [PAY_FP64]  = {"fp64",     8, 8,  0,     11, 52, -1022, true,    true},
    [PAY_E4M3]  = {"fp8_e4m3", 1, 10, 22400, 4,  3,  -9,    false,   false},
    [PAY_E5M2]  = {"fp8_e5m2", 1, 11, 22400, 5,  2,  -16,   true,    false},
};
/* clang-format on */

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

static bool power_of_two(int n)
{
    return (n & (n - 1)) == 0;
}

/* A sum's values are 1..span; 0: no such sum is exact. In place, multiples of the sum by up to
 * `ranks` must be exact too. */
static uint64_t sum_span(const struct payload_dtype *d, int ranks, bool in_place)
{
    uint64_t n = (uint64_t)ranks, limit = exact_limit(d) / n;
    uint64_t span = in_place && limit >= n ? limit / n : limit;
    return span > 8 ? 8 : span;
}

static uint64_t small_value(int rank, unsigned h, uint64_t span)
{
    return 1 + ((unsigned)rank * 7u + h * 5u + (unsigned)rank / 4u) % span;
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
    if (op == PAY_PROD)
        return (struct number){1, prod_exponent(d, rank, ranks, h)};
    uint64_t span = op == PAY_SUM || op == PAY_AVG ? sum_span(d, ranks, in_place) : 8;
    return (struct number){small_value(rank, h, span ? span : 1),
                           op == PAY_SUM && in_place ? d->scale : 0};
}

static struct number combine(enum payload_op op, struct number a, struct number b)
{
    switch (op) {
    case PAY_PROD:
        return (struct number){1, a.e + b.e};
    case PAY_MAX:
        return a.m > b.m ? a : b;
    case PAY_MIN:
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
    case PAY_SUM:
        n.m *= (uint64_t)ranks;
        if (!d->exponent_bits)
            n.m &= UINT32_MAX;
        return d->exponent_bits ? odd(n) : n;
    case PAY_PROD:
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
        bool adds = op == PAY_SUM || op == PAY_AVG;
        if (adds && d->exponent_bits && odd(n).m > exact_limit(d) / (uint64_t)ranks)
            return false;
        n = next;
        fit = encode(d, n, bits);
    }
    return fit == FITS || (fit == TOO_LARGE && d->overflows);
}

/* The mean of integers is truncated; that of others is exact only by powers of two. */
static struct number mean(const struct payload_dtype *d, struct number sum, int ranks)
{
    if (!d->exponent_bits)
        return (struct number){sum.m / (uint64_t)ranks, 0};
    sum.e -= __builtin_ctz((unsigned)ranks);
    return sum;
}

static bool possible(const struct payload_dtype *d, enum payload_op op, int ranks, bool in_place)
{
    if (op == PAY_AVG && d->exponent_bits && !power_of_two(ranks))
        return false;
    return (op != PAY_SUM && op != PAY_AVG) || sum_span(d, ranks, in_place) > 0;
}

bool payload_make(struct payload *p, enum payload_type type, enum payload_op op, int rank,
                  int ranks, bool in_place, uint64_t operations)
{
    const struct payload_dtype *d = &payload_dtypes[type];
    p->element_B = d->size_B;
    if (!possible(d, op, ranks, in_place))
        return false;
    bool exact = true;
    for (unsigned h = 0; h < PAYLOAD_PERIOD; h++) {
        struct number all = value(d, op, 0, ranks, in_place, h);
        for (int r = 1; r < ranks; r++)
            all = combine(op, all, value(d, op, r, ranks, in_place, h));
        if (op == PAY_AVG)
            all = mean(d, all, ranks);
        exact &= encode(d, value(d, op, rank, ranks, in_place, h), &p->input[h]) == FITS;
        exact &= expect(d, op, all, ranks, in_place ? operations : 1, &p->expected[h]);
    }
    return exact;
}
