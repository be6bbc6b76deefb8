/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs of a collective on the host with an exact result in any order of reduction, and the check
 * of every element of the output.
 *
 * Values are small integers (below: some scaled by a power of two), random over elements and
 * different between ranks. They are drawn so that every partial result fits the type:
 *   sum       h(e) w(r), h random, w the weight of a rank: 1, 2, 3, ...; the sum of the weights
 *             times h stays below 2^24 for float32, 255 for uint8 (whose sums Open MPI saturates in
 *             one kernel and wraps in another), ...
 *   prod      signs drawn for each rank, and a power of two at one rank, drawn for each element
 *   max, min  drawn for each rank
 *
 * A steady-state sample in place reduces its own result again and again. From the second iteration
 * on, all n ranks hold the same value s, and a sum gives n s. Such a payload is `chained`. After k
 * reductions its value is still exact:
 *   sum       floats and n a power of two: scaled to begin near the smallest exponent, it grows to
 *             n^(k-1) s without rounding, until the exponent overflows (payload_reductions).
 *             Other signed types: the weights sum to 0, so the first reduction gives 0, and n * 0
 *             stays 0. The first reduction is checked in full; later ones only keep the 0.
 *             uint8 has no such payload.
 *   prod      only +1 and -1 (uint8: 0 and 1); their powers have the same values
 *   max, min  keep their result
 *
 * The pattern repeats after PAYLOAD_PERIOD elements, a prime, so that a block in the wrong place is
 * found. Filling copies memory; checking compares it.
 */
#pragma once

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
    unsigned char not_once[PAYLOAD_PERIOD * 8]; /* `once`, every bit inverted */
    unsigned char scratch[PAYLOAD_PERIOD * 8];
};

/* The first wrong element, for the error message. */
struct payload_fault {
    size_t element;
    double got, expected;
};

size_t payload_element_B(enum payload_type type);

/* Number of reductions with an exact result. 0: no such payload; UINT_MAX: no limit. */
unsigned payload_reductions(const struct payload_kind *kind);

/* Only for kinds with payload_reductions() > 0. */
void payload_init(struct payload *p, const struct payload_kind *kind, int rank);

void payload_fill(const struct payload *p, void *buf, size_t count);
/* Sets every element to a value that differs from the right result. */
void payload_poison(const struct payload *p, void *buf, size_t count);
/* Is `buf` the result of `reductions` reductions? If not, *fault has the first wrong element. */
bool payload_check(struct payload *p, const void *buf, size_t count, unsigned reductions,
                   struct payload_fault *fault);

/* The same of a part of another collective's result: `count` elements that came from element
 * `first` on of the input of rank `source`, or, PAYLOAD_REDUCED, of the reduced inputs. */
#define PAYLOAD_REDUCED (-1)
void payload_poison_part(struct payload *p, void *buf, size_t count, int source, size_t first);
bool payload_check_part(struct payload *p, const void *buf, size_t count, int source, size_t first,
                        struct payload_fault *fault);
