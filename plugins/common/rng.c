/* SPDX-License-Identifier: Apache-2.0 */
#include "common/rng.h"

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void rng_seed(struct rng *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        r->s[i] = splitmix64(&seed);
}

void rng_stream(struct rng *r, uint64_t seed, uint64_t stream)
{
    /* Hashed one after the other, so that (1, 2) and (2, 1) are no neighbours. */
    uint64_t state = splitmix64(&seed) ^ stream;
    rng_seed(r, splitmix64(&state));
}

double rng_uniform(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

void rng_shuffle(struct rng *r, size_t *v, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)rng_below(r, i), t = v[i - 1];
        v[i - 1] = v[j];
        v[j] = t;
    }
}
