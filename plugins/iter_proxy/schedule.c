/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of the tasks of one iteration (backend.h), by mode:
 *   compute     A  every GEMM and kernel
 *   comm        B  every collective, at once
 *   sequential  C  all of A, then all of B
 *   overlapped  D  both at the same time: a step in the order of its file, anything else by `issue`:
 *     after   The first third of the GEMMs is the forward pass. The rest is the backward pass,
 *             split evenly between the buckets. A bucket is issued after its share, as in
 *             data-parallel training. No GEMM overlaps the last bucket.
 *     beside  All GEMMs are split between the buckets. A bucket is issued when its share begins, as
 *             if the gradients of the previous micro-batch were reduced.
 */
#include "iter_proxy/work.h"

/* GEMMs [first, end) of bucket b's share of those from `forward` on. */
static void put_share(struct proxy_work *w, unsigned forward, unsigned b)
{
    uint64_t rest = w->n_compute - forward, buckets = w->n_collectives;
    unsigned first = forward + (unsigned)(rest * b / buckets);
    work_add_task(w, PROXY_COMPUTE, first, forward + (unsigned)(rest * (b + 1) / buckets) - first);
}

void schedule_synthetic(struct proxy_work *w, int issue)
{
    unsigned forward = issue == PROXY_AFTER ? (unsigned)w->n_compute / 3 : 0;
    work_add_task(w, PROXY_COMPUTE, 0, forward);
    for (unsigned b = 0; b < w->n_collectives; b++) {
        if (issue == PROXY_BESIDE)
            work_add_task(w, PROXY_COMM, b, 1);
        put_share(w, forward, b);
        if (issue == PROXY_AFTER)
            work_add_task(w, PROXY_COMM, b, 1);
    }
}

void schedule_mode(struct proxy_work *w, int mode)
{
    if (mode != PROXY_MODE_OVERLAPPED)
        w->n_tasks = 0;
    if (mode == PROXY_MODE_COMPUTE || mode == PROXY_MODE_SEQUENTIAL)
        work_add_task(w, PROXY_COMPUTE, 0, (unsigned)w->n_compute);
    if (mode == PROXY_MODE_COMM || mode == PROXY_MODE_SEQUENTIAL)
        for (unsigned i = 0; i < w->n_collectives; i++)
            work_add_task(w, PROXY_COMM, i, mode == PROXY_MODE_SEQUENTIAL);
    work_add_task(w, PROXY_JOIN, 0, 0);
}
