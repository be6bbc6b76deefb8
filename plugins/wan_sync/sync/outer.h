/* SPDX-License-Identifier: Apache-2.0
 *
 * The outer step of local SGD (Douillard et al. 2023, DiLoCo): Nesterov momentum on the mean of the
 * ranks' changes, on the host. sum: the sum over n ranks.
 *   m = momentum m + sum / n;   x = x - rate (sum / n + momentum m)
 */
#pragma once

#include <stddef.h>

#define OUTER_RATE 0.7f
#define OUTER_MOMENTUM 0.9f

void outer_step(const float *sum, size_t n, int ranks, float *x, float *m);
