/* SPDX-License-Identifier: Apache-2.0
 *
 * The buckets of PyTorch's DistributedDataParallel, after its first iteration: gradients, in the
 * order in which they become ready, fill a bucket of their dtype until it has `first` bytes or more;
 * later buckets are full at `cap`.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct bucket_gradient {
    uint64_t bytes;
    int dtype;       /* below BUCKET_DTYPES */
    unsigned bucket; /* out: buckets are numbered by their first gradient */
};
#define BUCKET_DTYPES 4

/* Returns the number of buckets. */
unsigned buckets_form(struct bucket_gradient *gradient, size_t n, uint64_t first, uint64_t cap);
