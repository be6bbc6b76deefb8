/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/buckets.h"

#include <stdbool.h>

unsigned buckets_form(struct bucket_gradient *gradient, size_t n, uint64_t first, uint64_t cap)
{
    struct {
        bool open, later; /* later: its first bucket is full */
        unsigned bucket;
        uint64_t bytes;
    } of[BUCKET_DTYPES] = {0};
    unsigned buckets = 0;
    for (size_t i = 0; i < n; i++) {
        const int d = gradient[i].dtype;
        if (!of[d].open) {
            of[d].open = true;
            of[d].bucket = buckets++;
            of[d].bytes = 0;
        }
        gradient[i].bucket = of[d].bucket;
        of[d].bytes += gradient[i].bytes;
        if (of[d].bytes >= (of[d].later ? cap : first)) {
            of[d].open = false;
            of[d].later = true;
        }
    }
    return buckets;
}
