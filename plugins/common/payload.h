/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs of an all-reduce whose result is known exactly, whatever the order in which the library
 * combines them, and the check of every element of an output against it.
 *
 * Values are small integers (scaled by a power of two where said), random over elements and, at
 * each element, different between ranks. They are drawn so that every partial result fits the type:
 *   sum       h(e) w(r), h random, w the weight of a rank: 1, 2, 3, ...; the sum of the weights
 *             times h stays below 2^24 for float32, 255 for uint8 (whose sums Open MPI saturates in
 *             one kernel and wraps in another), ...
 *   prod      signs drawn for each rank, and a power of two at one rank, drawn for each element
 *   max, min  drawn for each rank
 *
 * A steady-state sample in place reduces its own result again and again: from the second iteration
 * on all n ranks hold the same value s, and a sum gives n s. Such a payload is `chained`; what it
 * holds after k reductions is still exact:
 *   sum       floats and n a power of two: scaled to begin near the smallest exponent, it grows to
 *             n^(k-1) s without rounding, for as many reductions as the exponent has room
 *             (payload_reductions).
 *             Signed types otherwise: the weights sum to 0, so that the first reduction gives 0 and
 *             all later ones keep it: the only fixed point of s -> n s. The first reduction is
 *             checked in full, the later ones only for not disturbing it.
 *             uint8 has no such payload.
 *   prod      +1 and -1 alone (uint8: 0 and 1), which powers keep within themselves
 *   max, min  keep their result
 *
 * The pattern repeats after PAYLOAD_PERIOD elements, a prime, so that blocks that end up in another
 * block's place are found; filling and checking is copying and comparing memory.
 */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>

#define PAYLOAD_PERIOD 1021

enum payload_type { PAYLOAD_FLOAT32, PAYLOAD_FLOAT64, PAYLOAD_INT32, PAYLOAD_INT64, PAYLOAD_UINT8 };
enum payload_op { PAYLOAD_SUM, PAYLOAD_PROD, PAYLOAD_MAX, PAYLOAD_MIN };

struct payload_kind {
    enum payload_type type;
    enum payload_op op;
    int ranks;
    bool chained;
};

struct payload {
    struct payload_kind kind;
    size_t element_B;
    double once[PAYLOAD_PERIOD];                /* the result of one reduction */
    unsigned char input[PAYLOAD_PERIOD * 8];    /* this rank's */
    unsigned char not_once[PAYLOAD_PERIOD * 8]; /* `once`, every bit turned over */
    unsigned char scratch[PAYLOAD_PERIOD * 8];
};

/* The first wrong element, as text for people. */
struct payload_fault {
    size_t element;
    double got, expected;
};

size_t payload_element_B(enum payload_type type);

/* How often such a payload can be reduced and stay exact: 0 there is none, UINT_MAX for ever. */
unsigned payload_reductions(const struct payload_kind *kind);

/* Only for kinds with payload_reductions() > 0. */
void payload_init(struct payload *p, const struct payload_kind *kind, int rank);

void payload_fill(const struct payload *p, void *buf, size_t count);
/* Every element becomes one that differs from the right result. */
void payload_poison(const struct payload *p, void *buf, size_t count);
/* Is `buf` the result of `reductions` reductions? If not, *fault says where not. */
bool payload_check(struct payload *p, const void *buf, size_t count, unsigned reductions,
                   struct payload_fault *fault);

#endif
