/* SPDX-License-Identifier: Apache-2.0 */
#include "common/payload.h"

#include "common/rng.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define WEIGHTS 61      /* weights 1 .. WEIGHTS, over and over */
#define SPREAD 4096     /* h(e) is 1 .. SPREAD where there is room */
#define SMALL_RANGE 251 /* of max and min: 0 .. 250, or -125 .. 125 */

struct type {
    size_t element_B;
    bool is_signed, is_float;
    double limit;  /* integers up to here are exact and do not overflow */
    int low, room; /* chained sums begin at 2^low and may double `room` times */
    double (*load)(const void *at);
    void (*store)(void *at, double value);
};

#define ACCESS(name, ctype)                                                                        \
    static double load_##name(const void *at)                                                      \
    {                                                                                              \
        ctype v;                                                                                   \
        memcpy(&v, at, sizeof v);                                                                  \
        return (double)v;                                                                          \
    }                                                                                              \
    static void store_##name(void *at, double value)                                               \
    {                                                                                              \
        ctype v = (ctype)value;                                                                    \
        memcpy(at, &v, sizeof v);                                                                  \
    }
ACCESS(f32, float)
ACCESS(f64, double)
ACCESS(i32, int32_t)
ACCESS(i64, int64_t)
ACCESS(u8, uint8_t)

static const struct type types[] = {
    [PAYLOAD_FLOAT32] = {4, true, true, 0x1p24, -100, 200, load_f32, store_f32},
    [PAYLOAD_FLOAT64] = {8, true, true, 0x1p53, -900, 1800, load_f64, store_f64},
    [PAYLOAD_INT32] = {4, true, false, INT32_MAX, 0, 0, load_i32, store_i32},
    [PAYLOAD_INT64] = {8, true, false, 0x1p53, 0, 0, load_i64, store_i64},
    [PAYLOAD_UINT8] = {1, false, false, UINT8_MAX, 0, 0, load_u8, store_u8},
};

size_t payload_element_B(enum payload_type type)
{
    return types[type].element_B;
}

/* ---- sums ---- */

static bool grows(const struct payload_kind *k)
{
    return k->chained && types[k->type].is_float && (k->ranks & (k->ranks - 1)) == 0;
}

static bool cancels(const struct payload_kind *k)
{
    return k->chained && !grows(k);
}

/* Sum of the weights 1, 2, .. m, 1, 2, .. over n ranks. */
static double weights_sum(int n, int m)
{
    int rounds = n / m, rest = n % m;
    return (double)rounds * m * (m + 1) / 2 + (double)rest * (rest + 1) / 2;
}

/* The largest m whose weights leave room; 0 when not even equal weights do. */
static int weights_of(const struct payload_kind *k)
{
    int m = WEIGHTS;
    while (m > 0 && weights_sum(k->ranks, m) > types[k->type].limit)
        m--;
    return m;
}

static double weight(const struct payload_kind *k, int m, int rank)
{
    if (cancels(k) && rank == k->ranks - 1)
        return -weights_sum(rank, m);
    return 1 + rank % m;
}

static double sum_value(const struct payload_kind *k, uint64_t e, int rank)
{
    const struct type *t = &types[k->type];
    int m = weights_of(k);
    double room = fmin(SPREAD, floor(t->limit / weights_sum(k->ranks, m)));
    double h = 1 + (double)(mix(e) % (uint64_t)room);
    return ldexp(h * weight(k, m, rank), grows(k) ? t->low : 0);
}

static unsigned sum_reductions(const struct payload_kind *k)
{
    const struct type *t = &types[k->type];
    if (weights_of(k) == 0 || (cancels(k) && !t->is_signed))
        return 0;
    return grows(k) ? 1 + (unsigned)(t->room / log2(k->ranks)) : UINT_MAX;
}

static double sum_again(const struct payload_kind *k, double once, unsigned again)
{
    return grows(k) ? once * pow(k->ranks, again) : once;
}

static double add(double a, double b)
{
    return a + b;
}

/* ---- products ---- */

static uint64_t draw(uint64_t e, int rank)
{
    return mix(mix(e) + (uint64_t)rank);
}

static double prod_value(const struct payload_kind *k, uint64_t e, int rank)
{
    bool owner = mix(e) % (uint64_t)k->ranks == (uint64_t)rank;
    uint64_t bits = draw(e, rank);
    double sign = types[k->type].is_signed && bits & 1 ? -1 : 1;
    if (!k->chained)
        return sign * (owner ? (double)(2u << (bits >> 1) % 5) : 1);
    return !types[k->type].is_signed && owner ? (double)(bits & 1) : sign;
}

static unsigned unbounded(const struct payload_kind *k)
{
    (void)k;
    return UINT_MAX;
}

/* s^(n^again), for s of -1, 0 and 1. */
static double prod_again(const struct payload_kind *k, double once, unsigned again)
{
    return again > 0 && k->ranks % 2 == 0 ? fabs(once) : once;
}

static double multiply(double a, double b)
{
    return a * b;
}

/* ---- the largest and the smallest ---- */

static double small_value(const struct payload_kind *k, uint64_t e, int rank)
{
    return (double)(draw(e, rank) % SMALL_RANGE) -
           (types[k->type].is_signed ? (SMALL_RANGE - 1) / 2 : 0);
}

static double same_again(const struct payload_kind *k, double once, unsigned again)
{
    (void)k, (void)again;
    return once;
}

static const struct op {
    double (*value)(const struct payload_kind *k, uint64_t e, int rank);
    double (*combine)(double a, double b);
    /* The result of again + 1 reductions from that of one. */
    double (*again)(const struct payload_kind *k, double once, unsigned again);
    unsigned (*reductions)(const struct payload_kind *k);
} ops[] = {
    [PAYLOAD_SUM] = {sum_value, add, sum_again, sum_reductions},
    [PAYLOAD_PROD] = {prod_value, multiply, prod_again, unbounded},
    [PAYLOAD_MAX] = {small_value, fmax, same_again, unbounded},
    [PAYLOAD_MIN] = {small_value, fmin, same_again, unbounded},
};

/* ---- the pattern ---- */

unsigned payload_reductions(const struct payload_kind *kind)
{
    unsigned n = ops[kind->op].reductions(kind);
    return !kind->chained && n > 1 ? 1 : n;
}

void payload_init(struct payload *p, const struct payload_kind *kind, int rank)
{
    const struct type *t = &types[kind->type];
    const struct op *o = &ops[kind->op];
    p->kind = *kind;
    p->element_B = t->element_B;
    for (size_t e = 0; e < PAYLOAD_PERIOD; e++) {
        double result = o->value(kind, e, 0);
        for (int r = 1; r < kind->ranks; r++)
            result = o->combine(result, o->value(kind, e, r));
        p->once[e] = result;
        t->store(p->input + e * t->element_B, o->value(kind, e, rank));
        t->store(p->not_once + e * t->element_B, result);
    }
    for (size_t i = 0; i < sizeof p->not_once; i++)
        p->not_once[i] = (unsigned char)~p->not_once[i];
}

static size_t span(const struct payload *p, size_t done, size_t bytes)
{
    size_t period = PAYLOAD_PERIOD * p->element_B;
    return bytes - done < period ? bytes - done : period;
}

static void repeat(const struct payload *p, const unsigned char *pattern, void *buf, size_t count)
{
    size_t bytes = count * p->element_B;
    for (size_t done = 0; done < bytes; done += span(p, done, bytes))
        memcpy((char *)buf + done, pattern, span(p, done, bytes));
}

void payload_fill(const struct payload *p, void *buf, size_t count)
{
    repeat(p, p->input, buf, count);
}

void payload_poison(const struct payload *p, void *buf, size_t count)
{
    repeat(p, p->not_once, buf, count);
}

static void find_fault(const struct payload *p, const unsigned char *got, size_t first,
                       struct payload_fault *fault)
{
    size_t e = 0;
    while (memcmp(got + e * p->element_B, p->scratch + e * p->element_B, p->element_B) == 0)
        e++;
    fault->element = first + e;
    fault->got = types[p->kind.type].load(got + e * p->element_B);
    fault->expected = types[p->kind.type].load(p->scratch + e * p->element_B);
}

/* Does every period of buf equal the scratch? */
static bool matches(struct payload *p, const void *buf, size_t count, struct payload_fault *fault)
{
    size_t bytes = count * p->element_B;
    for (size_t done = 0; done < bytes; done += span(p, done, bytes)) {
        const unsigned char *got = (const unsigned char *)buf + done;
        if (memcmp(got, p->scratch, span(p, done, bytes)) != 0) {
            find_fault(p, got, done / p->element_B, fault);
            return false;
        }
    }
    return true;
}

bool payload_check(struct payload *p, const void *buf, size_t count, unsigned reductions,
                   struct payload_fault *fault)
{
    const struct type *t = &types[p->kind.type];
    for (size_t e = 0; e < PAYLOAD_PERIOD; e++)
        t->store(p->scratch + e * p->element_B,
                 ops[p->kind.op].again(&p->kind, p->once[e], reductions - 1));
    return matches(p, buf, count, fault);
}

/* The scratch becomes what a part of the result holds, a period of it at most. */
static void expect_part(struct payload *p, size_t count, int source, size_t first)
{
    const struct op *o = &ops[p->kind.op];
    for (size_t i = 0; i < count && i < PAYLOAD_PERIOD; i++) {
        size_t e = (first + i) % PAYLOAD_PERIOD;
        types[p->kind.type].store(p->scratch + i * p->element_B,
                                  source == PAYLOAD_REDUCED ? p->once[e]
                                                            : o->value(&p->kind, e, source));
    }
}

void payload_poison_part(struct payload *p, void *buf, size_t count, int source, size_t first)
{
    expect_part(p, count, source, first);
    for (size_t i = 0; i < PAYLOAD_PERIOD * p->element_B; i++)
        p->scratch[i] = (unsigned char)~p->scratch[i];
    repeat(p, p->scratch, buf, count);
}

bool payload_check_part(struct payload *p, const void *buf, size_t count, int source, size_t first,
                        struct payload_fault *fault)
{
    expect_part(p, count, source, first);
    return matches(p, buf, count, fault);
}
