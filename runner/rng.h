/* SPDX-License-Identifier: Apache-2.0
 *
 * xoshiro256** 1.0 (Blackman and Vigna, 2018), seeded with splitmix64: public domain algorithms.
 * The same seed gives the same stream on every machine.
 */
#ifndef GS_RNG_H
#define GS_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);
/* A stream of its own for each (seed, stream) pair. */
void rng_stream(struct rng *r, uint64_t seed, uint64_t stream);
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n); /* uniform in [0, n), unbiased (Lemire 2019) */
double rng_uniform(struct rng *r);             /* [0, 1) */
double rng_normal(struct rng *r);              /* mean 0, standard deviation 1 (polar method) */
void rng_shuffle(struct rng *r, size_t *v, size_t n); /* Fisher-Yates */

#endif
