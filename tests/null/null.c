/* SPDX-License-Identifier: Apache-2.0
 *
 * null: a plugin of the tests. Its samples come from a script in place of an operation, with any
 * fault that the runner must cope with.
 *
 * A sample of a prepared cell is time (1 + effect c) (1 + noise z), where c is the index of the
 * config and z is drawn from the host's seed, the cell and the rank. The first `warmup` samples take
 * twice as long.
 */
#include "../normal.h"
#include "common/clock.h"
#include "common/host.h"
#include "common/rng.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cell {
    uint64_t size;
    double time, effect, noise;
    int64_t warmup, fault_rank, fault_after;
    int config, fault, fault_config;
    bool spin;
};

struct self {
    const struct wl_host *host;
    uint64_t prepared;
    atomic_bool aborted;
};

struct prepared {
    struct self *self;
    struct cell cell;
    struct rng rng;
    double mean;
    int64_t samples;
    bool faulty; /* the scripted fault is for this rank and config */
    void *buffer;
};

#define ELEMENT_B 8
#define P(member, type, role, ctype) #member, type, role, WL_FIELD(struct cell, member, ctype)

static const char *const configs[] = {"a", "b", "c", "d", "e", "f", "g", "h", NULL};
static const char *const any_config[] = {"any", "a", "b", "c", "d", "e", "f", "g", "h", NULL};

/* HANG is deaf to abort(), WAIT ends at it. */
#define EACH_FAULT(F)                                                                              \
    F(NONE, "none")                                                                                \
    F(CRASH, "crash")                                                                              \
    F(HANG, "hang")                                                                                \
    F(WAIT, "wait")                                                                                \
    F(STOP, "stop")                                                                                \
    F(EXIT, "exit")                                                                                \
    F(FAIL, "fail")                                                                                \
    F(RETRY, "retry")                                                                              \
    F(WRONG, "wrong")                                                                              \
    F(PREPARE_CRASH, "prepare_crash")                                                              \
    F(PREPARE_FAIL, "prepare_fail")                                                                \
    F(PREPARE_SKIP, "skip")                                                                        \
    F(DESCRIBE_SKIP, "unfit")                                                                      \
    F(LOST, "lost")
#define FAULT(value, name) value,
#define FAULT_NAME(value, name) name,
enum fault { EACH_FAULT(FAULT) };
static const char *const faults[] = {EACH_FAULT(FAULT_NAME) NULL};

/* clang-format off */
static const struct wl_param params[] = {
    {P(size, WL_SIZE, WL_AXIS, uint64_t), "B", "4KiB", 8, 1ull << 50, NULL,
     "bytes of the buffer on one rank; a multiple of 8"},
    {P(time, WL_TIME, WL_AXIS, double), "s", "10us", 1e-9, 60, NULL,
     "mean time of one iteration"},
    {P(spin, WL_BOOL, WL_AXIS, bool), NULL, "no", 0, 0, NULL,
     "wait for this time and measure it, instead of only reporting it"},
    {P(config, WL_CHOICE, WL_CONFIG, int), NULL, "a", 0, 0, configs,
     "config to compare; its place in the alphabet scales effect"},
    {P(effect, WL_REAL, WL_AXIS, double), NULL, "0", -0.1, 10, NULL,
     "slowdown of each config per place after a: b by this, c by twice this"},
    {P(noise, WL_REAL, WL_AXIS, double), NULL, "0", 0, 1, NULL,
     "relative standard deviation of a sample"},
    {P(warmup, WL_INT, WL_AXIS, int64_t), NULL, "0", 0, 1e9, NULL,
     "number of first samples of a cell that take twice as long"},
    {P(fault, WL_CHOICE, WL_AXIS, int), NULL, "none", 0, 0, faults,
     "fault to inject"},
    {P(fault_rank, WL_INT, WL_AXIS, int64_t), NULL, "0", -1, 1e6, NULL,
     "rank of the fault; -1: every rank"},
    {P(fault_after, WL_INT, WL_AXIS, int64_t), NULL, "0", 0, 1e15, NULL,
     "number of samples of the cell before the fault"},
    {P(fault_config, WL_CHOICE, WL_AXIS, int), NULL, "any", 0, 0, any_config,
     "config of the fault"},
    {0}};
/* clang-format on */

static const struct wl_metric metrics[] = {
    {"time", "s", "one iteration", WL_MAX},
    {"slowdown", "1", "time of one iteration over the scripted mean", WL_MEAN},
    {0}};

/* ---- faults ---- */

static enum wl_status scripted(const struct prepared *p, enum wl_status status)
{
    p->self->host->fail(p->self->host->ctx, "scripted fault '%s' after %lld samples",
                        faults[p->cell.fault], (long long)p->samples);
    return status;
}

static enum wl_status wait_for_abort(const struct prepared *p)
{
    while (!atomic_load(&p->self->aborted))
        usleep(1000);
    return scripted(p, WL_FAIL);
}

static bool fault_is_here(const struct cell *c, const struct wl_host *host)
{
    return c->fault != NONE && (c->fault_rank < 0 || c->fault_rank == host->rank) &&
           (c->fault_config == 0 || c->fault_config == c->config + 1);
}

static enum wl_status fault_describe(const struct cell *c, char *why, size_t why_size)
{
    if (c->fault != DESCRIBE_SKIP)
        return WL_OK;
    snprintf(why, why_size, "scripted: this cell does not fit this machine");
    return WL_SKIP;
}

static enum wl_status fault_prepare(const struct prepared *p)
{
    switch (p->cell.fault) {
    case PREPARE_CRASH:
        raise(SIGSEGV);
        return WL_OK;
    case PREPARE_FAIL:
        return scripted(p, WL_FAIL);
    case PREPARE_SKIP:
        return scripted(p, WL_SKIP);
    default:
        return WL_OK;
    }
}

static enum wl_status fault_sample(const struct prepared *p)
{
    switch (p->cell.fault) {
    case CRASH:
        raise(SIGSEGV);
        return WL_OK;
    case HANG:
        for (;;)
            pause();
    case WAIT:
        return wait_for_abort(p);
    case STOP:
        raise(SIGSTOP);
        return WL_OK;
    case EXIT:
        _exit(0);
    case FAIL:
        return scripted(p, WL_FAIL);
    case LOST:
        return scripted(p, WL_LOST);
    case RETRY: /* once: a runner that takes the sample again gets it */
        return p->samples == p->cell.fault_after ? scripted(p, WL_RETRY) : WL_OK;
    default:
        return WL_OK;
    }
}

static enum wl_status fault_verify(const struct prepared *p)
{
    return p->cell.fault == WRONG ? scripted(p, WL_FAIL) : WL_OK;
}

/* ---- the plugin ---- */

static enum wl_status describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                               char *why, size_t why_size)
{
    const struct cell *c = cell;
    (void)job;
    if (c->size == 0 || c->size % ELEMENT_B) {
        snprintf(why, why_size, "size=%llu is not a multiple of the %d-byte element",
                 (unsigned long long)c->size, ELEMENT_B);
        return WL_FAIL;
    }
    shape->size_B = c->size;
    shape->busbw_factor = 1;
    shape->host_B = c->size + sizeof(struct prepared);
    shape->iteration_s = c->time * (1 + c->effect * c->config);
    return fault_describe(c, why, why_size);
}

static enum wl_status open_null(void **self, const struct wl_host *host)
{
    struct self *s = calloc(1, sizeof *s);
    if (!s)
        return HOST_FAILED(host, "out of memory");
    s->host = host;
    *self = s;
    return WL_OK;
}

static void close_null(void *self)
{
    free(self);
}

static void abort_null(void *self)
{
    atomic_store(&((struct self *)self)->aborted, true);
}

static void release(void *prepared)
{
    free(((struct prepared *)prepared)->buffer);
    free(prepared);
}

static enum wl_status prepare(void *self, const void *cell, void **prepared)
{
    struct self *s = self;
    struct prepared *p = calloc(1, sizeof *p);
    if (!p)
        return HOST_FAILED(s->host, "out of memory");
    p->self = s;
    p->cell = *(const struct cell *)cell;
    /* Nothing reads the buffer: it makes the cell as large as a real operation's. */
    p->buffer = malloc(p->cell.size);
    if (!p->buffer)
        s->host->fail(s->host->ctx, "no memory for a buffer of %llu bytes",
                      (unsigned long long)p->cell.size);
    p->mean = p->cell.time * (1 + p->cell.effect * p->cell.config);
    rng_stream(&p->rng, s->host->seed, s->prepared++ << 24 | (uint64_t)s->host->rank);
    p->faulty = fault_is_here(&p->cell, s->host);
    enum wl_status status = !p->buffer ? WL_FAIL : p->faulty ? fault_prepare(p) : WL_OK;
    if (status == WL_OK)
        *prepared = p;
    else
        release(p);
    return status;
}

static double next_time(struct prepared *p)
{
    const struct cell *c = &p->cell;
    double t = p->mean;
    if (c->noise > 0)
        t *= fmax(1 + c->noise * rng_normal(&p->rng), 0.01);
    return p->samples++ < c->warmup ? 2 * t : t;
}

static enum wl_status sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    struct prepared *p = prepared;
    if (p->faulty && p->samples >= p->cell.fault_after) {
        enum wl_status status = fault_sample(p);
        if (status != WL_OK) {
            p->samples++;
            return status;
        }
    }
    double t = next_time(p);
    out->start_ns = now_ns();
    out->end_ns = out->start_ns + (uint64_t)(t * iters * 1e9 + 0.5);
    if (p->cell.spin) {
        uint64_t until = out->end_ns;
        while ((out->end_ns = now_ns()) < until)
            ;
        t = (double)(out->end_ns - out->start_ns) * 1e-9 / iters;
    }
    out->values[0] = t;
    out->values[1] = t / p->cell.time;
    return WL_OK;
}

static enum wl_status verify(void *prepared)
{
    const struct prepared *p = prepared;
    return p->faulty && p->samples >= p->cell.fault_after ? fault_verify(p) : WL_OK;
}

const struct wl_plugin wl_plugin_v1 = {
    .size = sizeof(struct wl_plugin),
    .name = "null",
    .version = "1.0",
    .summary = "scripted samples, for tests of gradsync",
    .params = params,
    .cell_size = sizeof(struct cell),
    .metrics = metrics,
    .describe = describe,
    .open = open_null,
    .close = close_null,
    .prepare = prepare,
    .release = release,
    .sample = sample,
    .verify = verify,
    .abort = abort_null,
};
