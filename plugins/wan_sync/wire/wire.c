/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/wire/wire_parts.h"

#include "wan_sync/wire/vectorise.h"

#include <string.h>

/* ---- bf16 ---- */

static inline uint16_t narrow(float x)
{
    uint32_t u = bits_of(x);
    uint32_t rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    return (uint16_t)((u & ~0x80000000u) > NOT_FINITE ? QUIET_NAN : rounded);
}

VECTORISE_WIDE static void encode_bf16(const float *x, size_t n, uint16_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = narrow(x[i]);
}

VECTORISE_WIDE static void decode_bf16(const uint16_t *in, size_t n, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = widen(in[i]);
}

VECTORISE_WIDE static void add_bf16(const uint16_t *in, size_t n, float *sum)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += widen(in[i]);
}

/* ---- fp32 ---- */

VECTORISE_WIDE static void add_fp32(const float *in, size_t n, float *sum)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += in[i];
}

size_t wire_bytes(enum wire w, size_t n)
{
    switch (w) {
    case WIRE_FP32:
        return n * sizeof(float);
    case WIRE_BF16:
        return n * sizeof(uint16_t);
    case WIRE_INT8:
        return wire_bytes_int8(n);
    case WIRE_INT4:
        return wire_bytes_int4(n);
    }
    return 0;
}

void wire_encode(enum wire w, const float *x, size_t n, void *out)
{
    switch (w) {
    case WIRE_FP32:
        memcpy(out, x, n * sizeof *x);
        break;
    case WIRE_BF16:
        encode_bf16(x, n, out);
        break;
    case WIRE_INT8:
        wire_encode_int8(x, n, out);
        break;
    case WIRE_INT4:
        wire_encode_int4(x, n, out);
        break;
    }
}

void wire_decode(enum wire w, const void *in, size_t n, float *x)
{
    switch (w) {
    case WIRE_FP32:
        memcpy(x, in, n * sizeof *x);
        break;
    case WIRE_BF16:
        decode_bf16(in, n, x);
        break;
    case WIRE_INT8:
        wire_decode_int8(in, n, x);
        break;
    case WIRE_INT4:
        wire_decode_int4(in, n, x);
        break;
    }
}

void wire_add(enum wire w, const void *in, size_t n, float *sum)
{
    switch (w) {
    case WIRE_FP32:
        add_fp32(in, n, sum);
        break;
    case WIRE_BF16:
        add_bf16(in, n, sum);
        break;
    case WIRE_INT8:
        wire_add_int8(in, n, sum);
        break;
    case WIRE_INT4:
        wire_add_int4(in, n, sum);
        break;
    }
}

double wire_error(enum wire w)
{
    /* Half a step; a scale in bf16, rounded up, is larger by at most 2^-7. */
    static const double error[] = {[WIRE_FP32] = 0x1p-24,
                                   [WIRE_BF16] = 0x1p-8,
                                   [WIRE_INT8] = 0.5 / 127 * (1 + 0x1p-7),
                                   [WIRE_INT4] = 0.5 / 7 * (1 + 0x1p-7)};
    return error[w];
}
