/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/sync/outer.h"

#include "wan_sync/wire/vectorise.h"

VECTORISE void outer_step(const float *restrict sum, size_t n, int ranks, float *restrict x,
                          float *restrict m)
{
    float each = 1 / (float)ranks;
    for (size_t i = 0; i < n; i++) {
        float mean = sum[i] * each;
        m[i] = OUTER_MOMENTUM * m[i] + mean;
        x[i] -= OUTER_RATE * (mean + OUTER_MOMENTUM * m[i]);
    }
}
