/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers that only tests draw.
 */
#pragma once

#include "common/rng.h"

#include <math.h>

/* Mean 0, standard deviation 1 (polar method). */
static inline double rng_normal(struct rng *r)
{
    double u, v, s;
    do {
        u = 2 * rng_uniform(r) - 1;
        v = 2 * rng_uniform(r) - 1;
        s = u * u + v * v;
    } while (s >= 1 || s == 0);
    return u * sqrt(-2 * log(s) / s);
}
