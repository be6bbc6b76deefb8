/* SPDX-License-Identifier: Apache-2.0
 *
 * Floats on the wire. An encoding is never longer than the floats themselves.
 *   fp32  unchanged
 *   bf16  the upper half, rounded to nearest even
 *   int8, int4  for each group of WIRE_GROUP values a scale: the largest magnitude / 127 or / 7,
 *               in bf16, rounded up; then each value / scale, rounded to nearest even
 * A group with an infinity or NaN becomes NaN; a group below 2^-93 becomes 0. The arithmetic is
 * elementwise in float without contraction, so every machine gets the same bits.
 */
#pragma once

#include "common/wan_model.h"

#include <stddef.h>

#define WIRE_GROUP WAN_WIRE_GROUP

enum wire { WAN_EACH_WIRE(WAN_WIRE_VALUE) };

/* Encoded bytes of n values. */
size_t wire_bytes(enum wire w, size_t n);

struct wire_encoding {
    void (*encode)(const float *x, size_t n, void *to);
    void (*decode)(const void *from, size_t n, float *x);
    void (*add)(const void *from, size_t n, float *sum); /* decodes and adds */
    double error; /* the largest of one rounding, relative to the largest magnitude of the group */
};
extern const struct wire_encoding wire_of[]; /* by enum wire */
