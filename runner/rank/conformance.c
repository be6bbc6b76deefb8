/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/conformance.h"

#include "base/err.h"
#include "base/text.h"
#include "config/params.h"
#include "rank/conformance_calls.h"
#include "rank/stdout_capture.h"

#include <dlfcn.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEST_OF 3       /* compare the shortest of this many samples */
#define ROUNDS 5        /* an iteration count is wrong only if it is so in each round */
#define LONG_S 0.1      /* limit for the duration of a sample */
#define STILL_GROWING 8 /* a leak: this many cycles in a row, each with more than the last */

static void check_describe(struct conformance *c, const void *cell)
{
    struct wl_shape shape;
    const struct wl_param *size = params_find(c->wl->params, "size");
    if (size && size->type == WL_SIZE) {
        void *copy = xmalloc(c->wl->cell_size);
        memcpy(copy, cell, c->wl->cell_size);
        memset((char *)copy + size->offset, 0, sizeof(uint64_t));
        snprintf(c->cell, sizeof c->cell, "size=0");
        if (conformance_describe(c, copy, &c->job, &shape) != WL_FAIL)
            conformance_fault(c, "describe() accepts size 0; return WL_FAIL with a reason");
        free(copy);
    }
    struct wl_job alone = c->job;
    alone.ranks = alone.nodes = alone.local_ranks = 1;
    snprintf(c->cell, sizeof c->cell, "default, 1 rank");
    if (conformance_describe(c, cell, &alone, &shape) == WL_OK)
        conformance_note(c, "one rank is accepted");
    else
        conformance_note(c, "one rank is refused: %s", c->why);
    c->cell[0] = '\0';
}

static void check_shape(struct conformance *c, const struct wl_shape *s)
{
    if (!isfinite(s->busbw_factor) || s->busbw_factor < 0 || !isfinite(s->iteration_s) ||
        s->iteration_s < 0)
        conformance_fault(c, "%s: busbw_factor or iteration_s is negative or not finite", c->at);
    if (s->busbw_factor > 0 && s->size_B == 0)
        conformance_fault(c, "%s: busbw_factor without size_B", c->at);
    if (s->iters_max && s->iters_min > s->iters_max)
        conformance_fault(c, "%s: iters_min %u is above iters_max %u", c->at, s->iters_min,
                          s->iters_max);
}

/* Takes a few samples; *shortest_s is the shortest. */
static bool best(struct conformance *c, void *prepared, unsigned iters, double *shortest_s)
{
    *shortest_s = INFINITY;
    for (int i = 0; i < BEST_OF; i++) {
        double time_s;
        if (!conformance_sample(c, prepared, iters, &time_s))
            return false;
        *shortest_s = fmin(*shortest_s, time_s);
    }
    return true;
}

/* An iteration count to compare with `few`, each of which takes one_s; 0: all would take too long. */
static unsigned many_for(const struct wl_shape *shape, unsigned few, double one_s)
{
    static const unsigned times[] = {64, 16, 8};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        unsigned many = few * times[i];
        if ((!shape->iters_max || many <= shape->iters_max) && one_s * many < LONG_S)
            return many;
    }
    return 0;
}

static bool on_any_rank(const struct conformance *c, bool mine)
{
    bool any = false;
    for (int r = 0; r < c->runner->ranks; r++) {
        bool theirs = mine;
        c->runner->bcast(c->runner->ctx, &theirs, sizeof theirs, r);
        any = any || theirs;
    }
    return any;
}

/* Checks that sample() runs all its iterations. If it runs fewer and still divides by the count, the
 * time per iteration falls further than shared overhead could explain. Another process on the same
 * processor can cause the same for a while, so only a repeated result is a fault. */
static bool check_iters(struct conformance *c, void *prepared, const struct wl_shape *shape)
{
    unsigned few = shape->iters_min ? shape->iters_min : 1;
    double one_s = 0, each_s = 0;
    bool wrong = true;
    for (int round = 0; round < ROUNDS && on_any_rank(c, wrong); round++) {
        if (!best(c, prepared, few, &one_s))
            return false;
        unsigned many = many_for(shape, few, one_s);
        c->runner->bcast(c->runner->ctx, &many, sizeof many, 0);
        if (!many)
            return true;
        if (!best(c, prepared, many, &each_s))
            return false;
        unsigned half = many / few / 2;
        wrong = each_s < one_s / half;
        if (wrong && round == ROUNDS - 1)
            conformance_fault(
                c,
                "%s: with %u iterations one takes %g s, with %u %g s: the count is not "
                "honoured",
                c->at, few, one_s, many, each_s);
    }
    return true;
}

/* Prepares the cell twice, like a baseline and its copy, and samples both in turn. */
static void exercise(struct conformance *c, const void *cell)
{
    struct wl_shape shape;
    void *a, *b;
    double time_s;
    enum wl_status s = conformance_describe(c, cell, &c->job, &shape);
    if (s != WL_OK) {
        conformance_note(c, "cell %s is %s: %s", c->cell, s == WL_SKIP ? "skipped" : "refused",
                         c->why);
        return;
    }
    check_shape(c, &shape);
    s = conformance_prepare(c, cell, &a);
    if (s == WL_SKIP)
        conformance_note(c, "cell %s is skipped by prepare(): %s", c->cell, c->why);
    if (s != WL_OK)
        return;
    bool good = check_iters(c, a, &shape) && conformance_verify(c, a);
    c->host.copy = 1;
    if (good && conformance_prepare(c, cell, &b) == WL_OK) {
        unsigned iters = shape.iters_min ? shape.iters_min : 1;
        if (conformance_sample(c, b, iters, &time_s) && conformance_sample(c, a, iters, &time_s) &&
            conformance_verify(c, b))
            conformance_verify(c, a);
        conformance_release(c, b);
    }
    c->host.copy = 0;
    conformance_release(c, a);
}

/* Tests the default cell with each other value of one parameter. */
static void exercise_choices(struct conformance *c, const void *cell, const struct wl_param *p)
{
    static const char *const yes_no[] = {"no", "yes", NULL};
    const char *const *values = p->type == WL_CHOICE ? p->choices
                                : p->type == WL_BOOL ? yes_no
                                                     : NULL;
    char why[512];
    AUTO_FREE void *other = xmalloc(c->wl->cell_size);
    for (; values && *values; values++) {
        memcpy(other, cell, c->wl->cell_size);
        if (!strcmp(*values, p->def) || !param_parse(p, *values, other, why, sizeof why))
            continue;
        snprintf(c->cell, sizeof c->cell, "%s=%s", p->name, *values);
        exercise(c, other);
    }
}

/* ---- what is left behind ---- */

/* A CUDA driver keeps descriptors and threads until the process ends, and some hundred bytes per
 * graph. */
#define DRIVER_B 4096
static bool driver_is_here(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (driver)
        dlclose(driver);
    return driver;
}

static bool grows(const long *x, size_t n)
{
    for (size_t i = n - STILL_GROWING; i < n; i++)
        if (x[i] <= x[i - 1])
            return false;
    return true;
}

/* Growth below `least` per cycle is not a leak. */
static void check_growth(struct conformance *c, const char *what, const long *x, long least)
{
    size_t n = CONFORMANCE_CYCLES;
    long each = (x[n - 1] - x[n - 1 - STILL_GROWING]) / STILL_GROWING;
    if (grows(x, n) && each >= least)
        conformance_fault(c, "leaks %ld %s with every prepare() to release()", each, what);
}

static void check_cycles(struct conformance *c, const void *cell)
{
    struct wl_shape shape;
    long fds[CONFORMANCE_CYCLES], threads[CONFORMANCE_CYCLES], heap[CONFORMANCE_CYCLES];
    snprintf(c->cell, sizeof c->cell, "default");
    if (conformance_describe(c, cell, &c->job, &shape) != WL_OK)
        return;
    for (size_t i = 0; i < CONFORMANCE_CYCLES; i++) {
        void *prepared;
        double time_s;
        if (conformance_prepare(c, cell, &prepared) != WL_OK)
            return;
        bool good =
            conformance_sample(c, prepared, shape.iters_min ? shape.iters_min : 1, &time_s) &&
            conformance_verify(c, prepared);
        conformance_release(c, prepared);
        if (!good)
            return;
        struct resources w = resources_count();
        fds[i] = w.fds;
        threads[i] = w.threads;
        heap[i] = w.heap_B;
    }
    check_growth(c, "descriptors", fds, 1);
    check_growth(c, "threads", threads, 1);
    check_growth(c, "bytes", heap, driver_is_here() ? DRIVER_B : 1);
}

static void check_left(struct conformance *c, const struct resources *before)
{
    struct resources after = resources_count();
    bool driver = driver_is_here();
    if (!driver && after.fds > before->fds)
        conformance_fault(c, "leaves %ld descriptors open after close()", after.fds - before->fds);
    if (!driver && after.threads > before->threads)
        conformance_fault(c, "leaves %ld threads running after close()",
                          after.threads - before->threads);
    if (strcmp(setlocale(LC_ALL, NULL), "C"))
        conformance_fault(c, "calls setlocale: numbers are written as in C");
}

/* ---- the whole ---- */

static bool all_good(const struct conformance *c)
{
    return conformance_agree(c, c->faults ? WL_FAIL : WL_OK) == WL_OK;
}

static void exercise_all(struct conformance *c)
{
    char why[512];
    AUTO_FREE void *cell = xcalloc(1, c->wl->cell_size);
    params_default(c->wl->params, cell, why, sizeof why);
    check_describe(c, cell);
    snprintf(c->cell, sizeof c->cell, "default");
    exercise(c, cell);
    for (const struct wl_param *p = c->wl->params; p->name && all_good(c); p++)
        if (p->role != WL_AXIS)
            exercise_choices(c, cell, p);
    check_cycles(c, cell);
    c->cell[0] = '\0';
}

static int opened(struct conformance *c)
{
    struct resources before = resources_count();
    enum wl_status s = conformance_open(c);
    if (s == WL_OK) {
        exercise_all(c);
        conformance_close(c);
        check_left(c, &before);
    }
    return c->faults || s == WL_FAIL ? GS_FAILED : s == WL_SKIP ? GS_CANNOT : GS_OK;
}

int rank_conformance(const char *path, struct wl_host *host)
{
    struct conformance c;
    int code = conformance_begin(&c, host);
    if (code)
        return code;
    code = conformance_load(&c, path);
    if (conformance_agree(&c, code ? WL_FAIL : WL_OK) == WL_OK)
        code = opened(&c);
    conformance_end(&c, code);
    return code;
}
