/* SPDX-License-Identifier: Apache-2.0
 *
 * A small good plugin, and one bad function for every fault that a check must find. The tests
 * compile it with -DNAME=the_fault and one of -DOPEN, -DCLOSE, -DDESCRIBE, -DPREPARE, -DRELEASE,
 * -DSAMPLE, -DVERIFY naming the bad function that takes the good one's place.
 */
#include "workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STRING(x) #x
#define TEXT(x) STRING(x)
#define MAYBE __attribute__((unused)) static

struct cell {
    uint64_t size;
};

static const struct wl_param params[] = {{"size", WL_SIZE, WL_AXIS,
                                          WL_FIELD(struct cell, size, uint64_t), "B", "4KiB", 1,
                                          1e9, NULL, "bytes"},
                                         {0}};
static const struct wl_metric metrics[] = {{"time", "s", "one iteration", WL_MAX}, {0}};

static const struct wl_host *lent;

/* ---- the good ones ---- */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static enum wl_status good_describe(const void *cell, const struct wl_job *job,
                                    struct wl_shape *shape, char *why, size_t n)
{
    (void)job;
    shape->size_B = ((const struct cell *)cell)->size;
    snprintf(why, n, "%s", shape->size_B ? "" : "size 0");
    return shape->size_B ? WL_OK : WL_FAIL;
}

static enum wl_status good_open(void **self, const struct wl_host *host)
{
    static char one;
    lent = host;
    *self = &one;
    return WL_OK;
}

static void good_close(void *self)
{
    (void)self;
}

static enum wl_status good_prepare(void *self, const void *cell, void **prepared)
{
    (void)self;
    size_t size = ((const struct cell *)cell)->size;
    *prepared = malloc(size);
    if (*prepared)
        memset(*prepared, 1, size);
    return *prepared ? WL_OK : WL_FAIL;
}

static void good_release(void *prepared)
{
    free(prepared);
}

static void wait_us(unsigned us)
{
    for (uint64_t until = now_ns() + us * 1000u; now_ns() < until;)
        ;
}

static enum wl_status timed(unsigned count, unsigned iters, struct wl_sample *out)
{
    out->start_ns = now_ns();
    for (unsigned i = 0; i < count; i++)
        wait_us(200);
    out->end_ns = now_ns();
    out->values[0] = (double)(out->end_ns - out->start_ns) * 1e-9 / iters;
    return WL_OK;
}

MAYBE enum wl_status good_sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    (void)prepared;
    return timed(iters, iters, out);
}

MAYBE enum wl_status good_verify(void *prepared)
{
    (void)prepared;
    return WL_OK;
}

/* ---- the bad ones ---- */

#define OPENS(name) MAYBE enum wl_status name(void **self, const struct wl_host *host)
#define SAMPLES(name)                                                                              \
    MAYBE enum wl_status name(void *prepared, unsigned iters, struct wl_sample *out)
#define PREPARES(name) MAYBE enum wl_status name(void *self, const void *cell, void **prepared)

OPENS(open_crash)
{
    (void)host;
    *(volatile int *)*self = 1;
    return WL_OK;
}

OPENS(open_exit)
{
    (void)self;
    (void)host;
    exit(0);
}

OPENS(open_hang)
{
    (void)self;
    (void)host;
    for (;;)
        pause();
}

OPENS(open_skip)
{
    (void)self;
    host->fail(host->ctx, "no GPU on this machine");
    return WL_SKIP;
}

OPENS(open_says_nothing)
{
    (void)self;
    (void)host;
    return WL_FAIL;
}

OPENS(open_fails)
{
    (void)self;
    host->fail(host->ctx, "device %d is on fire", host->rank);
    return WL_FAIL;
}

PREPARES(prepare_fails_on_one)
{
    if (lent->rank == 1) {
        lent->fail(lent->ctx, "not on rank 1");
        return WL_FAIL;
    }
    return good_prepare(self, cell, prepared);
}

PREPARES(prepare_sets_nothing)
{
    (void)self, (void)cell, (void)prepared;
    return WL_OK;
}

SAMPLES(sample_nan)
{
    (void)prepared;
    timed(1, iters, out);
    out->values[0] = NAN;
    return WL_OK;
}

SAMPLES(sample_in_ms)
{
    (void)prepared;
    timed(iters, iters, out);
    out->values[0] *= 1e3;
    return WL_OK;
}

SAMPLES(sample_zero)
{
    (void)prepared;
    timed(1, iters, out);
    out->values[0] = 0;
    return WL_OK;
}

SAMPLES(sample_retries)
{
    (void)prepared;
    (void)iters;
    (void)out;
    lent->fail(lent->ctx, "again");
    return WL_RETRY;
}

SAMPLES(sample_loses)
{
    (void)prepared;
    (void)iters;
    (void)out;
    lent->fail(lent->ctx, "the device is gone");
    return WL_LOST;
}

SAMPLES(sample_aborts)
{
    (void)prepared;
    (void)iters;
    (void)out;
    fprintf(stderr, "assertion failed: x > 0\n");
    abort();
}

MAYBE enum wl_status verify_wrong(void *prepared)
{
    (void)prepared;
    lent->fail(lent->ctx, "element 3 is 4, not 5");
    return WL_FAIL;
}

PREPARES(prepare_past_the_end)
{
    enum wl_status status = good_prepare(self, cell, prepared);
    if (status == WL_OK)
        ((volatile char *)*prepared)[((const struct cell *)cell)->size] = 1;
    return status;
}

MAYBE void release_twice(void *prepared)
{
    free(prepared);
    void *volatile again = prepared;
    free(again);
}

/* ---- one of them ---- */

#ifndef NAME
#define NAME bad
#endif
#ifndef OPEN
#define OPEN good_open
#endif
#ifndef CLOSE
#define CLOSE good_close
#endif
#ifndef DESCRIBE
#define DESCRIBE good_describe
#endif
#ifndef PREPARE
#define PREPARE good_prepare
#endif
#ifndef RELEASE
#define RELEASE good_release
#endif
#ifndef SAMPLE
#define SAMPLE good_sample
#endif
#ifndef VERIFY
#define VERIFY good_verify
#endif

const struct wl_plugin wl_plugin_v1 = {
    .size = sizeof(struct wl_plugin),
    .name = TEXT(NAME),
    .version = "1",
    .summary = "a fault to be found",
    .params = params,
    .cell_size = sizeof(struct cell),
    .metrics = metrics,
    .describe = DESCRIBE,
    .open = OPEN,
    .close = CLOSE,
    .prepare = PREPARE,
    .release = RELEASE,
    .sample = SAMPLE,
    .verify = VERIFY,
};
