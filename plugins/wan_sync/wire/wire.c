/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/wire/wire.h"

#include "wan_sync/wire/vectorise.h"

#include <stdint.h>
#include <string.h>

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

static inline uint16_t narrow(float x)
{
    uint32_t u = bits_of(x);
    uint32_t rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    return (uint16_t)((u & ~0x80000000u) > NOT_FINITE ? QUIET_NAN : rounded);
}

static size_t bytes_bf16(size_t n)
{
    return n * sizeof(uint16_t);
}

VECTORISE_WIDE static void encode_bf16(const float *x, size_t n, void *to)
{
    uint16_t *out = to;
    for (size_t i = 0; i < n; i++)
        out[i] = narrow(x[i]);
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

static size_t bytes_fp32(size_t n)
{
    return n * sizeof(float);
}

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

static inline int8_t level(float x, float inv)
{
    return (int8_t)(int32_t)(bits_of(x * inv + ROUNDER) - ROUNDER_BITS);
}

/* What is not a number must not become a level by accident: its group is NaN by its scale. */
static inline void levels_of(const float *x, size_t n, uint16_t scale, int8_t *q)
{
    float inv = inverse(scale);
    if (inv == 0)
        memset(q, 0, n);
    else
        for (size_t i = 0; i < n; i++)
            q[i] = level(x[i], inv);
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

VECTORISE_WIDE static void encode_int8(const float *x, size_t n, void *to)
{
    unsigned char *out = to;
    int8_t *q = (int8_t *)(out + groups_of(n) * sizeof(uint16_t));
    for (size_t at = 0, g = 0; at < n; at += WIRE_GROUP, g++) {
        size_t m = group_n(n, at);
        uint16_t scale = m == WIRE_GROUP ? scale_of(largest_of(x + at, WIRE_GROUP), 127)
                                         : scale_of(largest_of(x + at, m), 127);
        memcpy(out + g * sizeof scale, &scale, sizeof scale);
        if (m == WIRE_GROUP) /* a count that the compiler knows */
            levels_of(x + at, WIRE_GROUP, scale, q + at);
        else
            levels_of(x + at, m, scale, q + at);
    }
}

static inline float scale_at(const unsigned char *in, size_t g)
{
    uint16_t scale;
    memcpy(&scale, in + g * sizeof scale, sizeof scale);
    return widen(scale);
}

VECTORISE_WIDE static void decode_int8(const void *from, size_t n, float *x)
{
    const unsigned char *in = from;
    const int8_t *q = (const int8_t *)(in + groups_of(n) * sizeof(uint16_t));
    for (size_t at = 0, g = 0; at < n; at += WIRE_GROUP, g++) {
        float scale = scale_at(in, g);
        for (size_t i = 0, m = group_n(n, at); i < m; i++)
            x[at + i] = scale * (float)q[at + i];
    }
}

VECTORISE_WIDE static void add_int8(const void *from, size_t n, float *sum)
{
    const unsigned char *in = from;
    const int8_t *q = (const int8_t *)(in + groups_of(n) * sizeof(uint16_t));
    for (size_t at = 0, g = 0; at < n; at += WIRE_GROUP, g++) {
        float scale = scale_at(in, g);
        for (size_t i = 0, m = group_n(n, at); i < m; i++)
            sum[at + i] += scale * (float)q[at + i];
    }
}

/* ---- int4: in a group of m values, byte i holds value i and value i + half above it ---- */

static inline size_t half_of(size_t m)
{
    return (m + 1) / 2;
}

static size_t nibble_bytes(size_t n)
{
    return n / WIRE_GROUP * (WIRE_GROUP / 2) + half_of(n % WIRE_GROUP);
}

VECTORISE_WIDE static void encode_int4(const float *x, size_t n, void *to)
{
    unsigned char *out = to;
    unsigned char *q = out + groups_of(n) * sizeof(uint16_t);
    int8_t level_of[WIRE_GROUP + 1];
    for (size_t at = 0, g = 0; at < n; at += WIRE_GROUP, g++) {
        size_t m = group_n(n, at), half = half_of(m);
        uint16_t scale = m == WIRE_GROUP ? scale_of(largest_of(x + at, WIRE_GROUP), 7)
                                         : scale_of(largest_of(x + at, m), 7);
        memcpy(out + g * sizeof scale, &scale, sizeof scale);
        level_of[m] = 0; /* above the last of an odd number */
        if (m == WIRE_GROUP)
            levels_of(x + at, WIRE_GROUP, scale, level_of);
        else
            levels_of(x + at, m, scale, level_of);
        for (size_t i = 0; i < half; i++)
            q[i] = (unsigned char)((level_of[i] & 15) | (level_of[i + half] & 15) << 4);
        q += half;
    }
}

static inline float low_of(unsigned char q)
{
    return (float)(((q & 15) ^ 8) - 8);
}

static inline float high_of(unsigned char q)
{
    return (float)((q >> 4 ^ 8) - 8);
}

VECTORISE_WIDE static void decode_int4(const void *from, size_t n, float *x)
{
    const unsigned char *in = from;
    const unsigned char *q = in + groups_of(n) * sizeof(uint16_t);
    for (size_t at = 0, g = 0; at < n; at += WIRE_GROUP, g++) {
        size_t m = group_n(n, at), half = half_of(m);
        float scale = scale_at(in, g);
        for (size_t i = 0; i < half; i++)
            x[at + i] = scale * low_of(q[i]);
        for (size_t i = 0; i < m - half; i++)
            x[at + half + i] = scale * high_of(q[i]);
        q += half;
    }
}

VECTORISE_WIDE static void add_int4(const void *from, size_t n, float *sum)
{
    const unsigned char *in = from;
    const unsigned char *q = in + groups_of(n) * sizeof(uint16_t);
    for (size_t at = 0, g = 0; at < n; at += WIRE_GROUP, g++) {
        size_t m = group_n(n, at), half = half_of(m);
        float scale = scale_at(in, g);
        for (size_t i = 0; i < half; i++)
            sum[at + i] += scale * low_of(q[i]);
        for (size_t i = 0; i < m - half; i++)
            sum[at + half + i] += scale * high_of(q[i]);
        q += half;
    }
}

static size_t bytes_int8(size_t n)
{
    return groups_of(n) * sizeof(uint16_t) + n;
}

static size_t bytes_int4(size_t n)
{
    return groups_of(n) * sizeof(uint16_t) + nibble_bytes(n);
}

/* ---- the encodings ---- */

struct encoding {
    size_t (*bytes)(size_t n);
    void (*encode)(const float *x, size_t n, void *to);
    void (*decode)(const void *from, size_t n, float *x);
    void (*add)(const void *from, size_t n, float *sum);
    double error;
};

/* The errors are half a step. A scale is rounded up to bf16, which adds at most 2^-7. */
static const struct encoding encodings[] = {
    [WIRE_FP32] = {bytes_fp32, encode_fp32, decode_fp32, add_fp32, 0x1p-24},
    [WIRE_BF16] = {bytes_bf16, encode_bf16, decode_bf16, add_bf16, 0x1p-8},
    [WIRE_INT8] = {bytes_int8, encode_int8, decode_int8, add_int8, 0.5 / 127 * (1 + 0x1p-7)},
    [WIRE_INT4] = {bytes_int4, encode_int4, decode_int4, add_int4, 0.5 / 7 * (1 + 0x1p-7)},
};

size_t wire_bytes(enum wire w, size_t n)
{
    return encodings[w].bytes(n);
}

void wire_encode(enum wire w, const float *x, size_t n, void *out)
{
    encodings[w].encode(x, n, out);
}

void wire_decode(enum wire w, const void *in, size_t n, float *x)
{
    encodings[w].decode(in, n, x);
}

void wire_add(enum wire w, const void *in, size_t n, float *sum)
{
    encodings[w].add(in, n, sum);
}

double wire_error(enum wire w)
{
    return encodings[w].error;
}
