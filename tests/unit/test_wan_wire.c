/* SPDX-License-Identifier: Apache-2.0
 *
 * What wan_sync puts on the wire: sizes, the error of a rounding against its bound, values that are
 * exact, that decoding adds what it decodes, and what is not a number.
 */
#include "../../plugins/common/payload.c" // NOLINT(bugprone-suspicious-include)
#include "../../plugins/wan_sync/wire.c"  // NOLINT(bugprone-suspicious-include)
#include "common/rng.h"
#include "unit.h"

#define MOST 5000

static const size_t counts[] = {1, 2, 3, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, MOST};
#define COUNTS (sizeof counts / sizeof *counts)

static float some_float(size_t i, float scale)
{
    return scale * ((float)(rng_mix(i) >> 40) * 0x1p-23f - 1);
}

static float group_largest(const float *x, size_t n, size_t i)
{
    size_t first = i / WIRE_GROUP * WIRE_GROUP;
    float largest = 0;
    for (size_t k = first; k < first + WIRE_GROUP && k < n; k++)
        largest = fmaxf(largest, fabsf(x[k]));
    return largest;
}

TEST(test_bytes)
{
    assert_int_equal(wire_bytes(WIRE_FP32, 1000), 4000);
    assert_int_equal(wire_bytes(WIRE_BF16, 1000), 2000);
    assert_int_equal(wire_bytes(WIRE_INT8, 1000), 1000 + 8 * 2);
    assert_int_equal(wire_bytes(WIRE_INT4, 1000), 500 + 8 * 2);
    for (size_t n = 0; n < 1000; n++)
        for (enum wire w = WIRE_FP32; w <= WIRE_INT4; w++)
            assert_true(wire_bytes(w, n) <= n * sizeof(float));
}

/* Magnitudes from where groups become 0 to where floats end. */
TEST(test_error)
{
    static const float scales[] = {1, 1e-3f, 3e4f, 1e-28f, 3e38f};
    static float x[MOST], y[MOST], sum[MOST];
    for (size_t s = 0; s < 5; s++)
        for (size_t c = 0; c < COUNTS; c++)
            for (enum wire w = WIRE_FP32; w <= WIRE_INT4; w++) {
                size_t n = counts[c];
                unsigned char *out = malloc(wire_bytes(w, n)); /* exact, for ASan */
                for (size_t i = 0; i < n; i++)
                    x[i] = some_float(i + c, scales[s]), sum[i] = 1;
                wire_of[w].encode(x, n, out);
                wire_of[w].decode(out, n, y);
                wire_of[w].add(out, n, sum);
                for (size_t i = 0; i < n; i++) {
                    double allowed = wire_of[w].error * (double)group_largest(x, n, i) + 0x1p-93;
                    if (fabs((double)y[i] - (double)x[i]) > allowed)
                        fail_msg("wire %d, %zu of %zu: %g is %g", w, i, n, (double)x[i],
                                 (double)y[i]);
                    assert_true(sum[i] == 1 + y[i]);
                }
                if (w == WIRE_FP32)
                    assert_memory_equal(x, y, n * sizeof *x);
                free(out);
            }
}

TEST(test_exact)
{
    /* int8: the largest is 127 scales, and the others are whole ones. */
    float x[] = {127, -127, 64, -1, 0, 3}, y[6];
    unsigned char out[64];
    wire_of[WIRE_INT8].encode(x, 6, out);
    wire_of[WIRE_INT8].decode(out, 6, y);
    assert_memory_equal(x, y, sizeof x);
    float small[] = {7, -7, 3, -1, 0}, back[5];
    wire_of[WIRE_INT4].encode(small, 5, out);
    wire_of[WIRE_INT4].decode(out, 5, back);
    assert_memory_equal(small, back, sizeof small);
    /* bf16 rounds to even: 1 + 2^-8 is half-way. */
    float half[] = {1 + 0x1p-8f, 1 + 0x3p-8f, 3.38953139e38f}, rounded[3];
    wire_of[WIRE_BF16].encode(half, 3, out);
    wire_of[WIRE_BF16].decode(out, 3, rounded);
    assert_true(rounded[0] == 1 && rounded[1] == 1 + 0x1p-6f && isfinite(rounded[2]));
}

/* Zeros stay zero; a NaN or an infinity is never lost in a group of numbers. */
TEST(test_not_finite)
{
    static float x[300], y[300];
    static unsigned char out[1200];
    for (enum wire w = WIRE_FP32; w <= WIRE_INT4; w++) {
        memset(x, 0, sizeof x);
        wire_of[w].encode(x, 300, out);
        wire_of[w].decode(out, 300, y);
        assert_memory_equal(x, y, sizeof x);
        x[5] = NAN;
        x[200] = -INFINITY;
        x[201] = 1;
        wire_of[w].encode(x, 300, out);
        wire_of[w].decode(out, 300, y);
        assert_true(isnan(y[5]) && !isfinite(y[200]) && y[299] == 0);
    }
}

TEST(test_pattern)
{
    static struct payload_floats p[3];
    static float data[3 * PAYLOAD_PERIOD], part[3 * PAYLOAD_PERIOD];
    size_t n = sizeof data / sizeof *data;
    for (int r = 0; r < 3; r++) {
        payload_floats_init(&p[r], FLOATS_INTEGERS, r, 3);
        payload_floats_fill(&p[r], part, 389, 7);
        payload_floats_fill(&p[r], part + 7, 389 + 7, n - 7);
        for (size_t i = 0; i < n; i++)
            data[i] += part[i];
    }
    struct payload_floats_error e = payload_floats_check(&p[1], data, 389, n);
    assert_true(e.largest == 0 && e.rms == 0 && e.scale > 900);
    uint64_t bits = e.bits;
    data[2000] += 1;
    e = payload_floats_check(&p[1], data, 389, n);
    assert_true(e.largest == 1 && e.at == 2000 && e.got == e.expected + 1 && e.bits != bits);
    data[1999] = NAN;
    assert_true(isinf(payload_floats_check(&p[1], data, 389, n).largest));
}

/* Normal numbers, and Student's t with 3 degrees of freedom, of variance 3. */
TEST(test_tails)
{
    static struct payload_floats p;
    static const double scale[] = {591, 1, 2}, peak[][2] = {{2, 3.5}, {2.8, 4}, {6, 40}};
    for (enum payload_floats_kind k = 0; k < FLOATS_KINDS; k++) {
        payload_floats_init(&p, k, 1, 3);
        double size = rms(p.input, PAYLOAD_PERIOD), got = p.largest / size;
        assert_true(got > peak[k][0] && got < peak[k][1]);
        assert_true(size > 0.7 * scale[k] && size < 1.4 * scale[k]);
    }
}
