/* SPDX-License-Identifier: Apache-2.0
 *
 * Floats on the wire. An encoding is never longer than the floats themselves.
 *   fp32  as they are
 *   bf16  the upper half, rounded to nearest even
 *   int8, int4  of each group of WIRE_GROUP values a scale, bf16, rounded up: the largest magnitude
 *               over 127 or 7; then the values over the scale, rounded to nearest even
 * A group that holds an infinity or NaN becomes NaN as a whole; one below 2^-93 becomes 0. Element
 * by element, in float, without contraction: the same bits on every machine.
 */
#ifndef WIRE_H
#define WIRE_H

#include <stddef.h>

#define WIRE_GROUP 128

enum wire { WIRE_FP32, WIRE_BF16, WIRE_INT8, WIRE_INT4 };

/* Bytes of n values. */
size_t wire_bytes(enum wire w, size_t n);
void wire_encode(enum wire w, const float *x, size_t n, void *out);
void wire_decode(enum wire w, const void *in, size_t n, float *x);
/* sum += the decoded. */
void wire_add(enum wire w, const void *in, size_t n, float *sum);
/* Most that one rounding changes a value, relative to the largest magnitude of its group. */
double wire_error(enum wire w);

#endif
