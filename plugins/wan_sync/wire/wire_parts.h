/* SPDX-License-Identifier: Apache-2.0
 *
 * The encodings as wire.c puts them together: of groups, and what all know of a float's bits.
 */
#ifndef WIRE_PARTS_H
#define WIRE_PARTS_H

#include "wan_sync/wire/wire.h"

#include <stdint.h>
#include <string.h>

#define NOT_FINITE 0x7f800000u
#define QUIET_NAN 0x7fc0u

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

size_t wire_bytes_int8(size_t n);
void wire_encode_int8(const float *x, size_t n, unsigned char *out);
void wire_decode_int8(const unsigned char *in, size_t n, float *x);
void wire_add_int8(const unsigned char *in, size_t n, float *sum);
size_t wire_bytes_int4(size_t n);
void wire_encode_int4(const float *x, size_t n, unsigned char *out);
void wire_decode_int4(const unsigned char *in, size_t n, float *x);
void wire_add_int4(const unsigned char *in, size_t n, float *sum);

#endif
