/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/wire.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Makes the compiler vectorise the loops of a function, whatever -O says; on x86-64, compiles it again for
 * wider registers. */
#if defined(__GNUC__) && !defined(__clang__) /* clang does at -O2 */
#define VECTORISE __attribute__((optimize("O3")))
#else
#define VECTORISE
#endif
#if defined(__x86_64__) && !defined(__clang__)
#define VECTORISE_WIDE VECTORISE __attribute__((target_clones("arch=haswell", "default")))
#else
#define VECTORISE_WIDE VECTORISE
#endif

#define NOT_FINITE 0x7f800000u
#define QUIET_NAN 0x7fc0u
#define LEAST 0x1p-93f /* the inverse of its scale is a number */
/* Added to |y| < 2^22 it leaves y, rounded to nearest even, in the low bits. */
#define ROUNDER 0x1.8p23f
#define ROUNDER_BITS 0x4b400000

/* ---- the bits of a float ---- */

static inline uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float float_of(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline float widen(uint16_t half)
{
    return float_of((uint32_t)half << 16);
}

/* ---- bf16 ---- */

VECTORISE_WIDE static void encode_bf16(const float *x, size_t n, void *to)
{
    uint16_t *out = to;
    for (size_t i = 0; i < n; i++) {
        uint32_t u = bits_of(x[i]), rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
        out[i] = (uint16_t)((u & ~0x80000000u) > NOT_FINITE ? QUIET_NAN : rounded);
    }
}

VECTORISE_WIDE static void decode_bf16(const void *from, size_t n, float *x)
{
    const uint16_t *in = from;
    for (size_t i = 0; i < n; i++)
        x[i] = widen(in[i]);
}

VECTORISE_WIDE static void add_bf16(const void *from, size_t n, float *sum)
{
    const uint16_t *in = from;
    for (size_t i = 0; i < n; i++)
        sum[i] += widen(in[i]);
}

/* ---- fp32 ---- */

static void encode_fp32(const float *x, size_t n, void *to)
{
    memcpy(to, x, n * sizeof *x);
}

static void decode_fp32(const void *from, size_t n, float *x)
{
    memcpy(x, from, n * sizeof *x);
}

VECTORISE_WIDE static void add_fp32(const void *from, size_t n, float *sum)
{
    const float *in = from;
    for (size_t i = 0; i < n; i++)
        sum[i] += in[i];
}

/* ---- groups: one scale for up to WIRE_GROUP values ---- */

static inline uint16_t scale_of(uint32_t largest, int levels)
{
    if (largest >= NOT_FINITE)
        return QUIET_NAN;
    if (float_of(largest) < LEAST)
        return 0;
    return (uint16_t)((bits_of(float_of(largest) / (float)levels) + 0xffff) >> 16);
}

static inline uint32_t largest_of(const float *x, size_t n)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t u = bits_of(x[i]) & 0x7fffffffu;
        largest = u > largest ? u : largest;
    }
    return largest;
}

/* 0 for a scale that is 0 or not finite. */
static inline float inverse(uint16_t scale)
{
    return scale == 0 || scale == QUIET_NAN ? 0 : 1 / widen(scale);
}

/* What is not a number must not become a level by accident: its group is NaN by its scale. */
static inline void levels_of(const float *x, size_t n, uint16_t scale, int8_t *q)
{
    float inv = inverse(scale);
    if (inv == 0)
        memset(q, 0, n);
    else
        for (size_t i = 0; i < n; i++)
            q[i] = (int8_t)(int32_t)(bits_of(x[i] * inv + ROUNDER) - ROUNDER_BITS);
}

static inline size_t groups_of(size_t n)
{
    return (n + WIRE_GROUP - 1) / WIRE_GROUP;
}

/* Values of the group that begins at `at`. */
static inline size_t group_n(size_t n, size_t at)
{
    return n - at < WIRE_GROUP ? n - at : WIRE_GROUP;
}

static inline uint16_t some_levels(const float *x, size_t n, int levels, int8_t *q)
{
    uint16_t scale = scale_of(largest_of(x, n), levels);
    levels_of(x, n, scale, q);
    return scale;
}

/* The levels of a group, and its scale; of a whole one the compiler knows the count. */
static inline uint16_t group_levels(const float *x, size_t n, int levels, int8_t *q)
{
    return n == WIRE_GROUP ? some_levels(x, WIRE_GROUP, levels, q) : some_levels(x, n, levels, q);
}

VECTORISE_WIDE static void encode_int8(const float *x, size_t n, void *to)
{
    unsigned char *out = to;
    int8_t *q = (int8_t *)(out + groups_of(n) * sizeof(uint16_t));
    for (size_t at = 0; at < n; at += WIRE_GROUP, out += sizeof(uint16_t)) {
        uint16_t scale = group_levels(x + at, group_n(n, at), 127, q + at);
        memcpy(out, &scale, sizeof scale);
    }
}

static inline float scale_at(const unsigned char *in, size_t g)
{
    uint16_t scale;
    memcpy(&scale, in + g * sizeof scale, sizeof scale);
    return widen(scale);
}

/* Constant for the compiler: adds, or replaces. */
static inline void put(float *x, float value, bool adds)
{
    *x = adds ? *x + value : value;
}

static inline void take_int8(const unsigned char *in, size_t n, float *x, bool adds)
{
    const int8_t *q = (const int8_t *)(in + groups_of(n) * sizeof(uint16_t));
    for (size_t at = 0, g = 0; at < n; at += WIRE_GROUP, g++) {
        float scale = scale_at(in, g);
        for (size_t i = 0, m = group_n(n, at); i < m; i++)
            put(&x[at + i], scale * (float)q[at + i], adds);
    }
}

VECTORISE_WIDE static void decode_int8(const void *from, size_t n, float *x)
{
    take_int8(from, n, x, false);
}

VECTORISE_WIDE static void add_int8(const void *from, size_t n, float *sum)
{
    take_int8(from, n, sum, true);
}

/* ---- int4: in a group of m values, byte i holds value i and value i + half above it ---- */

static inline size_t half_of(size_t m)
{
    return (m + 1) / 2;
}

VECTORISE_WIDE static void encode_int4(const float *x, size_t n, void *to)
{
    unsigned char *out = to, *q = out + groups_of(n) * sizeof(uint16_t);
    int8_t level_of[WIRE_GROUP + 1];
    for (size_t at = 0; at < n; at += WIRE_GROUP, out += sizeof(uint16_t)) {
        size_t m = group_n(n, at), half = half_of(m);
        uint16_t scale = group_levels(x + at, m, 7, level_of);
        memcpy(out, &scale, sizeof scale);
        level_of[m] = 0; /* above the last of an odd number */
        for (size_t i = 0; i < half; i++)
            q[i] = (unsigned char)((level_of[i] & 15) | (level_of[i + half] & 15) << 4);
        q += half;
    }
}

static inline void take_int4(const unsigned char *in, size_t n, float *x, bool adds)
{
    const unsigned char *q = in + groups_of(n) * sizeof(uint16_t);
    for (size_t at = 0, g = 0; at < n; at += WIRE_GROUP, g++) {
        size_t m = group_n(n, at), half = half_of(m);
        float scale = scale_at(in, g);
        for (size_t i = 0; i < half; i++)
            put(&x[at + i], scale * (float)(((q[i] & 15) ^ 8) - 8), adds);
        for (size_t i = 0; i < m - half; i++)
            put(&x[at + half + i], scale * (float)((q[i] >> 4 ^ 8) - 8), adds);
        q += half;
    }
}

VECTORISE_WIDE static void decode_int4(const void *from, size_t n, float *x)
{
    take_int4(from, n, x, false);
}

VECTORISE_WIDE static void add_int4(const void *from, size_t n, float *sum)
{
    take_int4(from, n, sum, true);
}

/* ---- the encodings ---- */

/* The errors are half a step. A scale is rounded up to bf16, which adds at most 2^-7. */
const struct wire_encoding wire_of[] = {
    [WIRE_FP32] = {encode_fp32, decode_fp32, add_fp32, 0x1p-24},
    [WIRE_BF16] = {encode_bf16, decode_bf16, add_bf16, 0x1p-8},
    [WIRE_INT8] = {encode_int8, decode_int8, add_int8, 0.5 / 127 * (1 + 0x1p-7)},
    [WIRE_INT4] = {encode_int4, decode_int4, add_int4, 0.5 / 7 * (1 + 0x1p-7)},
};

size_t wire_bytes(enum wire w, size_t n)
{
    size_t scales = groups_of(n) * sizeof(uint16_t);
    return w == WIRE_FP32   ? n * sizeof(float)
           : w == WIRE_BF16 ? n * sizeof(uint16_t)
           : w == WIRE_INT8 ? scales + n
                            : scales + half_of(n);
}
