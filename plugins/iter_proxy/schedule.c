/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/schedule.h"

#include <stdlib.h>

struct writer {
    struct proxy_task *task;
    size_t n;
    unsigned gemms, buckets;
};

static void put(struct writer *w, enum proxy_verb verb, unsigned first, unsigned n)
{
    w->task[w->n++] = (struct proxy_task){verb, first, n};
}

static void put_gemms(struct writer *w, unsigned first, unsigned end)
{
    if (end > first)
        put(w, PROXY_COMPUTE, first, end - first);
}

static void put_buckets(struct writer *w, unsigned after_compute)
{
    for (unsigned b = 0; b < w->buckets; b++)
        put(w, PROXY_COMM, b, after_compute);
}

/* The first GEMM of bucket b's share of those from `forward` on. */
static unsigned share(const struct writer *w, unsigned forward, unsigned b)
{
    return forward + (unsigned)((uint64_t)(w->gemms - forward) * b / w->buckets);
}

static void put_after(struct writer *w)
{
    unsigned forward = w->gemms / 3;
    put_gemms(w, 0, forward);
    for (unsigned b = 0; b < w->buckets; b++) {
        put_gemms(w, share(w, forward, b), share(w, forward, b + 1));
        put(w, PROXY_COMM, b, 1);
    }
}

static void put_beside(struct writer *w)
{
    for (unsigned b = 0; b < w->buckets; b++) {
        put(w, PROXY_COMM, b, 1);
        put_gemms(w, share(w, 0, b), share(w, 0, b + 1));
    }
}

static void put_compute(struct writer *w)
{
    put_gemms(w, 0, w->gemms);
}

static void put_comm(struct writer *w)
{
    put_buckets(w, 0);
}

static void put_sequential(struct writer *w)
{
    put_gemms(w, 0, w->gemms);
    put_buckets(w, 1);
}

static void (*const of_mode[])(struct writer *w) = {
    [PROXY_MODE_COMPUTE] = put_compute,
    [PROXY_MODE_COMM] = put_comm,
    [PROXY_MODE_SEQUENTIAL] = put_sequential,
};
static void (*const of_issue[])(struct writer *w) = {
    [PROXY_AFTER] = put_after,
    [PROXY_BESIDE] = put_beside,
};

bool schedule_make(struct proxy_schedule *schedule, const struct proxy_cell *cell)
{
    struct writer w = {.gemms = (unsigned)cell->gemms, .buckets = (unsigned)cell->buckets};
    w.task = calloc(2 * (size_t)w.buckets + 2, sizeof *w.task);
    if (!w.task)
        return false;
    if (cell->mode == PROXY_MODE_OVERLAPPED)
        of_issue[cell->issue](&w);
    else
        of_mode[cell->mode](&w);
    put(&w, PROXY_JOIN, 0, 0);
    *schedule = (struct proxy_schedule){w.task, w.n};
    return true;
}

bool schedule_has(const struct proxy_schedule *schedule, enum proxy_verb verb)
{
    for (size_t i = 0; i < schedule->n; i++)
        if (schedule->task[i].verb == verb)
            return true;
    return false;
}
