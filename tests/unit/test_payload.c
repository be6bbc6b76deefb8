/* SPDX-License-Identifier: Apache-2.0
 *
 * The payloads of GPUs, against arithmetic done in the types themselves: inputs
 * are summed in random orders by the compiler's float and double, bfloat16 by rounding float, and must give the expected bits after any number of operations in place.
 */
#include "common/payload.h"
#include "unit.h"

#include "../../plugins/common/payload.c" // NOLINT(bugprone-suspicious-include)

static double from_bits(enum payload_type t, uint64_t bits)
{
    union {
        uint64_t u64;
        uint32_t u32;
        float f;
        double d;
    } x = {.u64 = t == PAYLOAD_BF16 ? bits << 16 : bits};
    return t == PAYLOAD_FP64 ? x.d : (double)x.f;
}

/* Rounds to nearest even, as the type does. */
static uint64_t to_bits(enum payload_type t, double value)
{
    union {
        uint32_t u32;
        float f;
        uint64_t u64;
        double d;
    } x = {0};
    if (t == PAYLOAD_FP64) {
        x.d = value;
        return x.u64;
    }
    x.f = (float)value;
    if (t == PAYLOAD_BF16)
        return (x.u32 + 0x7fff + (x.u32 >> 16 & 1)) >> 16;
    return x.u32;
}

/* One all-reduce of what the ranks hold, combined in a random order. */
static double reduce(enum payload_type t, double *held, int ranks)
{
    for (int i = ranks - 1; i > 0; i--) {
        int j = rand() % (i + 1);
        double swap = held[i];
        held[i] = held[j];
        held[j] = swap;
    }
    double all = held[0];
    for (int i = 1; i < ranks; i++)
        all = from_bits(t, to_bits(t, all + held[i]));
    return all;
}

static void compare(enum payload_type t, int ranks, bool in_place, int operations)
{
    struct payload_words p[64];
    bool exact = true;
    for (int r = 0; r < ranks; r++)
        exact = payload_words_make(&p[r], t, r, ranks, in_place, (uint64_t)operations) && exact;
    for (int h = 0; h < PAYLOAD_WORDS && exact; h++) {
        double held[64], all = 0;
        for (int r = 0; r < ranks; r++)
            held[r] = from_bits(t, p[r].input[h]);
        for (int k = 0; k < (in_place ? operations : 1); k++) {
            all = reduce(t, held, ranks);
            for (int r = 0; r < ranks; r++)
                held[r] = all;
        }
        assert_int_equal(to_bits(t, all), p[0].expected[h]);
        assert_int_equal(p[0].expected[h], p[ranks - 1].expected[h]);
    }
    if (!in_place)
        assert_true(exact);
}

TEST(every_type_and_order)
{
    static const enum payload_type chosen[] = {PAYLOAD_FP32, PAYLOAD_BF16, PAYLOAD_FP64};
    static const int ranks[] = {2, 3, 4, 7, 8, 16};
    srand(1);
    for (size_t t = 0; t < 3; t++)
        for (size_t r = 0; r < 6; r++)
            for (int k = 1; k < 40; k += 13) {
                compare(chosen[t], ranks[r], false, k);
                compare(chosen[t], ranks[r], true, k);
            }
}

TEST(small_types_are_exact_where_they_can_be)
{
    struct payload_words p;
    assert_true(payload_words_make(&p, PAYLOAD_BF16, 0, 256, false, 1)); /* the last such integer */
    assert_false(payload_words_make(&p, PAYLOAD_BF16, 0, 257, false, 1));
    assert_true(payload_words_make(&p, PAYLOAD_FP16, 0, 4, true, 16));
}

TEST(repeating_in_place_is_exact_by_powers_of_two)
{
    struct payload_words p;
    assert_true(payload_words_make(&p, PAYLOAD_FP32, 0, 4, true, 100));
    assert_true(payload_words_make(&p, PAYLOAD_FP32, 0, 4, true, 100000)); /* infinity by then */
    assert_int_equal(p.expected[0], 0x7f800000);
    assert_false(payload_words_make(&p, PAYLOAD_FP32, 0, 3, true, 100));
}

TEST(ranks_and_places_differ)
{
    struct payload_words a = {0}, b = {0};
    payload_words_make(&a, PAYLOAD_FP32, 0, 4, false, 1);
    payload_words_make(&b, PAYLOAD_FP32, 1, 4, false, 1);
    assert_memory_not_equal(a.input, b.input, sizeof a.input);
    size_t distinct = 0;
    for (int h = 1; h < PAYLOAD_WORDS; h++)
        distinct += a.input[h] != a.input[h - 1];
    assert_true(distinct > PAYLOAD_WORDS / 2);
    for (int h = 0; h < PAYLOAD_WORDS; h++)
        assert_int_not_equal(a.input[h], a.expected[h]); /* an operation that did nothing is seen */
}
