/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers; the same seed gives the same stream on every machine. xoshiro256** 1.0 (Blackman
 * and Vigna, 2018), seeded with splitmix64; both are in the public domain.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);
/* An independent stream for each (seed, stream) pair. */
void rng_stream(struct rng *r, uint64_t seed, uint64_t stream);
double rng_uniform(struct rng *r);                    /* [0, 1) */
void rng_shuffle(struct rng *r, size_t *v, size_t n); /* Fisher-Yates */

/* Inline, because a bootstrap calls the next functions about 10^6 times. */
static inline uint64_t rng_rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t *s = r->s, result = rng_rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rng_rotl(s[3], 45);
    return result;
}

/* Uniform in [0, n), unbiased (Lemire 2019). */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
    __extension__ typedef unsigned __int128 wide;
    wide m = (wide)rng_next(r) * n;
    if ((uint64_t)m < n) {
        uint64_t threshold = (0 - n) % n;
        while ((uint64_t)m < threshold)
            m = (wide)rng_next(r) * n;
    }
    return (uint64_t)(m >> 64);
}

/* Hashes a number to 64 bits, the same on every machine: the finaliser of splitmix64 (Steele, Lea and
 * Flood 2014; public domain). */
static inline uint64_t rng_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}
