/* SPDX-License-Identifier: Apache-2.0
 *
 * template: copies a buffer, by memcpy or word by word. Every rank copies on its own, at once.
 */
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORD_B sizeof(uint64_t)
#define PAGE_B 4096

enum { METHOD_MEMCPY, METHOD_WORDS };
static const char *const methods[] = {[METHOD_MEMCPY] = "memcpy", [METHOD_WORDS] = "words", NULL};

/* What a user sets; the runner fills it from the table below. */
struct cell {
    uint64_t size;
    int method;
};

static const struct wl_param params[] = {
    {"size", WL_SIZE, WL_AXIS, WL_FIELD(struct cell, size, uint64_t), "B", "64KiB", 8, 0x1p40, NULL,
     "bytes to copy; a multiple of 8"},
    {"method", WL_CHOICE, WL_CONFIG, WL_FIELD(struct cell, method, int), NULL, "memcpy", 0, 0,
     methods, "how to copy them"},
    {0}};

static const struct wl_metric metrics[] = {{"time", "s", "one copy", WL_MAX}, {0}};

struct self {
    const struct wl_host *host;
};

struct prepared {
    struct self *self;
    struct cell cell;
    uint64_t *from, *to; /* one allocation */
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static enum wl_status describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                               char *why, size_t why_size)
{
    const struct cell *c = cell;
    (void)job; /* a collective refuses job->ranks < 2 here */
    if (c->size == 0 || c->size % WORD_B) {
        snprintf(why, why_size, "size=%llu is not a multiple of the %zu-byte word",
                 (unsigned long long)c->size, WORD_B);
        return WL_FAIL;
    }
    shape->size_B = c->size;
    shape->host_B = 2 * c->size;
    shape->iteration_s = (double)c->size / 5e9;
    return WL_OK;
}

static enum wl_status open_template(void **self, const struct wl_host *host)
{
    struct self *s = calloc(1, sizeof *s);
    if (!s) {
        host->fail(host->ctx, "out of memory");
        return WL_FAIL;
    }
    s->host = host;
    *self = s;
    return WL_OK;
}

static void close_template(void *self)
{
    free(self);
}

static void release(void *prepared)
{
    struct prepared *p = prepared;
    free(p->from);
    free(p);
}

/* Never zeros: pages that were not written to are all the same one. */
static void fill(uint64_t *words, size_t n, uint64_t x)
{
    for (size_t i = 0; i < n; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        words[i] = x;
    }
}

static enum wl_status prepare(void *self, const void *cell, void **prepared)
{
    struct self *s = self;
    struct prepared *p = calloc(1, sizeof *p);
    if (!p) {
        s->host->fail(s->host->ctx, "out of memory");
        return WL_FAIL;
    }
    p->self = s;
    p->cell = *(const struct cell *)cell;
    /* Buffers at the same offset within a page alias: loads wait for stores to the other buffer. */
    size_t pages_B = (p->cell.size + PAGE_B - 1) / PAGE_B * PAGE_B;
    p->from = aligned_alloc(PAGE_B, 2 * pages_B + PAGE_B);
    if (!p->from) {
        s->host->fail(s->host->ctx, "no memory for two buffers of %llu bytes",
                      (unsigned long long)p->cell.size);
        release(p);
        return WL_FAIL;
    }
    p->to = p->from + (pages_B + PAGE_B / 2) / WORD_B;
    fill(p->from, p->cell.size / WORD_B, s->host->seed + (uint64_t)s->host->rank);
    *prepared = p;
    return WL_OK;
}

static void copy(struct prepared *p)
{
    if (p->cell.method == METHOD_MEMCPY) {
        memcpy(p->to, p->from, p->cell.size);
        return;
    }
    for (size_t i = 0; i < p->cell.size / WORD_B; i++)
        ((volatile uint64_t *)p->to)[i] = p->from[i];
}

static enum wl_status sample(void *prepared, unsigned iters, struct wl_sample *out)
{
    struct prepared *p = prepared;
    memset(p->to, 0xa5, p->cell.size);
    out->start_ns = now_ns();
    for (unsigned i = 0; i < iters; i++) {
        copy(p);
        __asm__ volatile("" : : "r"(p->to) : "memory"); /* each copy is made */
    }
    out->end_ns = now_ns();
    out->values[0] = (double)(out->end_ns - out->start_ns) * 1e-9 / iters;
    return WL_OK;
}

static enum wl_status verify(void *prepared)
{
    const struct prepared *p = prepared;
    for (size_t i = 0; i < p->cell.size / WORD_B; i++)
        if (p->to[i] != p->from[i]) {
            p->self->host->fail(p->self->host->ctx, "word %zu is %llx, not %llx", i,
                                (unsigned long long)p->to[i], (unsigned long long)p->from[i]);
            return WL_FAIL;
        }
    return WL_OK;
}

const struct wl_plugin wl_plugin_v1 = {
    .size = sizeof(struct wl_plugin),
    .name = "template",
    .version = "0.1.0",
    .summary = "copies a buffer, by memcpy or word by word",
    .params = params,
    .cell_size = sizeof(struct cell),
    .metrics = metrics,
    .describe = describe,
    .open = open_template,
    .close = close_template,
    .prepare = prepare,
    .release = release,
    .sample = sample,
    .verify = verify,
};
