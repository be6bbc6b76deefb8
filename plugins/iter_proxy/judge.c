/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/judge.h"

#include "iter_proxy/traits.h"

#include <limits.h>
#include <stdio.h>

/* The first parameter that the other kind of cell has, and this cell sets; or NULL. */
static const char *foreign(const struct proxy_cell *c)
{
    const struct {
        const char *name;
        bool step, set;
    } parameters[] = {
        {"size", false, c->size != UINT64_C(16) << 20},
        {"buckets", false, c->buckets != 4},
        {"gemm", false, c->gemm != 256},
        {"gemm_m", false, c->gemm_m},
        {"gemm_n", false, c->gemm_n},
        {"gemm_k", false, c->gemm_k},
        {"gemms", false, c->gemms != 12},
        {"layout", false, c->layout},
        {"precision", false, c->precision},
        {"issue", false, c->issue},
        {"collective", false, c->collective},
        {"batch", true, c->batch != 1},
        {"scale", true, c->scale < 1},
        {"bucket_cap", true, c->bucket_cap != PROXY_BUCKET_CAP},
        {"bucket_first", true, c->bucket_first != PROXY_BUCKET_FIRST},
    };
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (parameters[i].set && parameters[i].step != (c->step[0] != 0))
            return parameters[i].name;
    return NULL;
}

static enum wl_status judge_size(const struct proxy_cell *c, const struct wl_job *job, char *why,
                                 size_t n)
{
    uint64_t count = c->size / sizeof(float);
    if (c->size == 0 || c->size % sizeof(float) != 0) {
        snprintf(why, n, "size=%llu is not a multiple of the %zu bytes of float32",
                 (unsigned long long)c->size, sizeof(float));
        return WL_FAIL;
    }
    if (c->collective && count % ((uint64_t)c->buckets * (uint64_t)job->ranks) != 0) {
        snprintf(why, n,
                 "size=%llu does not divide into buckets=%lld of one block for each of the %d "
                 "ranks, as collective=%s needs: use a multiple of %llu",
                 (unsigned long long)c->size, (long long)c->buckets, job->ranks,
                 proxy_collectives[c->collective],
                 (unsigned long long)c->buckets * (unsigned)job->ranks * sizeof(float));
        return WL_FAIL;
    }
    if (count < (uint64_t)c->buckets) {
        snprintf(why, n, "buckets=%lld is more than the %llu elements of size=%llu",
                 (long long)c->buckets, (unsigned long long)count, (unsigned long long)c->size);
        return WL_FAIL;
    }
    if (count / (uint64_t)c->buckets >= INT_MAX) {
        snprintf(why, n, "size=%llu in buckets=%lld is more than %d elements per bucket",
                 (unsigned long long)c->size, (long long)c->buckets, INT_MAX);
        return WL_FAIL;
    }
    return WL_OK;
}

enum wl_status proxy_judge(const struct proxy_cell *c, const struct wl_job *job, char *why,
                           size_t n)
{
    const char *name = foreign(c);
    if (job->ranks < 2 && c->mode != PROXY_MODE_COMPUTE) {
        snprintf(why, n, "ranks=%d: a collective needs at least 2 (mode=compute needs 1)",
                 job->ranks);
        return WL_FAIL;
    }
    if (name && c->step[0])
        snprintf(why, n,
                 "step=%s has GEMMs and gradients of its own: remove %s, or give it a "
                 "section without step",
                 c->step, name);
    else if (name)
        snprintf(why, n, "%s is for a recorded step: give step, or remove it", name);
    if (name)
        return WL_FAIL;
    return judge_size(c, job, why, n);
}
