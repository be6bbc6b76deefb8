/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of a cell (backend.h): from its parameters or from a step file, and the tasks of its mode.
 */
#pragma once

#include "iter_proxy/backend.h"

struct work_request {
    const struct proxy_cell *cell;
    enum proxy_backend_kind kind; /* never auto */
    int ranks;
    char *why;
    size_t why_size;
};

/* WL_OK; or `why` says what is wrong, and *w is empty. */
enum wl_status work_make(struct proxy_work *w, const struct work_request *q);
void work_free(struct proxy_work *w);

/* ---- buckets ---- */

/* The buckets of PyTorch's DistributedDataParallel, after its first iteration: gradients, in the
 * order in which they become ready, fill a bucket of their dtype until it has `first` bytes or more;
 * later buckets are full at `cap`.
 */
struct bucket_gradient {
    uint64_t bytes;
    int dtype;       /* below BUCKET_DTYPES */
    unsigned bucket; /* out: buckets are numbered by their first gradient */
};
#define BUCKET_DTYPES 4

/* Returns the number of buckets. */
unsigned buckets_form(struct bucket_gradient *gradient, size_t n, uint64_t first, uint64_t cap);
