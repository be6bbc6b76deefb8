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

#define BEST_OF 3       /* samples whose shortest is compared */
#define ROUNDS 5        /* of them, before a count that seems wrong is one */
#define LONG_S 0.1      /* no sample is made to last longer */
#define STILL_GROWING 8 /* cycles in a row that hold more than the one before: a leak */

static void describe_nonsense(struct trial *t, const void *cell)
{
    struct wl_shape shape;
    const struct wl_param *size = params_find(t->wl->params, "size");
    if (size && size->type == WL_SIZE) {
        void *copy = xmalloc(t->wl->cell_size);
        memcpy(copy, cell, t->wl->cell_size);
        memset((char *)copy + size->offset, 0, sizeof(uint64_t));
        snprintf(t->cell, sizeof t->cell, "size=0");
        if (trial_describe(t, copy, &t->job, &shape) != WL_FAIL)
            trial_fault(t, "describe() accepts size 0: it says WL_FAIL and why");
        free(copy);
    }
    struct wl_job alone = t->job;
    alone.ranks = alone.nodes = alone.local_ranks = 1;
    snprintf(t->cell, sizeof t->cell, "default, 1 rank");
    if (trial_describe(t, cell, &alone, &shape) == WL_OK)
        trial_note(t, "one rank is accepted");
    else
        trial_note(t, "one rank is refused: %s", t->why);
    t->cell[0] = '\0';
}

static void check_shape(struct trial *t, const struct wl_shape *s)
{
    if (!isfinite(s->busbw_factor) || s->busbw_factor < 0 || !isfinite(s->iteration_s) ||
        s->iteration_s < 0)
        trial_fault(t, "%s: busbw_factor or iteration_s is negative or not finite", t->at);
    if (s->busbw_factor > 0 && s->size_B == 0)
        trial_fault(t, "%s: busbw_factor without size_B", t->at);
    if (s->iters_max && s->iters_min > s->iters_max)
        trial_fault(t, "%s: iters_min %u is above iters_max %u", t->at, s->iters_min, s->iters_max);
}

/* The shortest of a few. */
static bool best(struct trial *t, void *prepared, unsigned iters, double *shortest_s)
{
    *shortest_s = INFINITY;
    for (int i = 0; i < BEST_OF; i++) {
        double time_s;
        if (!trial_sample(t, prepared, iters, &time_s))
            return false;
        *shortest_s = fmin(*shortest_s, time_s);
    }
    return true;
}

/* How many iterations to hold against `few` that take one_s each; 0: none that end soon. */
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

static bool on_any_rank(const struct trial *t, bool mine)
{
    bool any = false;
    for (int r = 0; r < t->lent->ranks; r++) {
        bool theirs = mine;
        t->lent->bcast(t->lent->ctx, &theirs, sizeof theirs, r);
        any = any || theirs;
    }
    return any;
}

/* Does a sample of many iterations make them? One that makes a few and divides shows a time that
 * falls as the count rises, further than overheads that are shared could explain. So does, for a
 * while, a rank that another process keeps from its processor: only what shows again and again is a
 * fault. */
static bool check_iters(struct trial *t, void *prepared, const struct wl_shape *shape)
{
    unsigned few = shape->iters_min ? shape->iters_min : 1;
    double one_s = 0, each_s = 0;
    bool wrong = true;
    for (int round = 0; round < ROUNDS && on_any_rank(t, wrong); round++) {
        if (!best(t, prepared, few, &one_s))
            return false;
        unsigned many = many_for(shape, few, one_s);
        t->lent->bcast(t->lent->ctx, &many, sizeof many, 0);
        if (!many)
            return true;
        if (!best(t, prepared, many, &each_s))
            return false;
        unsigned half = many / few / 2;
        wrong = each_s < one_s / half;
        if (wrong && round == ROUNDS - 1)
            trial_fault(t,
                        "%s: with %u iterations one takes %g s, with %u %g s: the count is not "
                        "honoured",
                        t->at, few, one_s, many, each_s);
    }
    return true;
}

/* Prepared twice at once, as a baseline and its copy are, then sampled in turn. */
static void exercise(struct trial *t, const void *cell)
{
    struct wl_shape shape;
    void *a, *b;
    double time_s;
    enum wl_status s = trial_describe(t, cell, &t->job, &shape);
    if (s != WL_OK) {
        trial_note(t, "cell %s is %s: %s", t->cell, s == WL_SKIP ? "skipped" : "refused", t->why);
        return;
    }
    check_shape(t, &shape);
    s = trial_prepare(t, cell, &a);
    if (s == WL_SKIP)
        trial_note(t, "cell %s is skipped by prepare(): %s", t->cell, t->why);
    if (s != WL_OK)
        return;
    bool good = check_iters(t, a, &shape) && trial_verify(t, a);
    t->host.copy = 1;
    if (good && trial_prepare(t, cell, &b) == WL_OK) {
        unsigned iters = shape.iters_min ? shape.iters_min : 1;
        if (trial_sample(t, b, iters, &time_s) && trial_sample(t, a, iters, &time_s) &&
            trial_verify(t, b))
            trial_verify(t, a);
        trial_release(t, b);
    }
    t->host.copy = 0;
    trial_release(t, a);
}

/* The default cell with one member set to another value of its type. */
static void exercise_choices(struct trial *t, const void *cell, const struct wl_param *p)
{
    static const char *const yes_no[] = {"no", "yes", NULL};
    const char *const *values = p->type == WL_CHOICE ? p->choices
                                : p->type == WL_BOOL ? yes_no
                                                     : NULL;
    char why[512];
    void *other = xmalloc(t->wl->cell_size);
    for (; values && *values; values++) {
        memcpy(other, cell, t->wl->cell_size);
        if (!strcmp(*values, p->def) || !param_parse(p, *values, other, why, sizeof why))
            continue;
        snprintf(t->cell, sizeof t->cell, "%s=%s", p->name, *values);
        exercise(t, other);
    }
    free(other);
}

/* ---- what is left behind ---- */

/* A CUDA driver keeps descriptors and threads of its own until the process ends, and some hundred
 * bytes a graph. */
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

/* Growth of less than `least` a cycle is nobody's. */
static void check_growth(struct trial *t, const char *what, const long *x, long least)
{
    size_t n = CONFORMANCE_CYCLES;
    long each = (x[n - 1] - x[n - 1 - STILL_GROWING]) / STILL_GROWING;
    if (grows(x, n) && each >= least)
        trial_fault(t, "leaks %ld %s with every prepare() to release()", each, what);
}

static void check_cycles(struct trial *t, const void *cell)
{
    struct wl_shape shape;
    long fds[CONFORMANCE_CYCLES], threads[CONFORMANCE_CYCLES], heap[CONFORMANCE_CYCLES];
    snprintf(t->cell, sizeof t->cell, "default");
    if (trial_describe(t, cell, &t->job, &shape) != WL_OK)
        return;
    for (size_t i = 0; i < CONFORMANCE_CYCLES; i++) {
        void *prepared;
        double time_s;
        if (trial_prepare(t, cell, &prepared) != WL_OK)
            return;
        bool good = trial_sample(t, prepared, shape.iters_min ? shape.iters_min : 1, &time_s) &&
                    trial_verify(t, prepared);
        trial_release(t, prepared);
        if (!good)
            return;
        struct witness w = witness_look();
        fds[i] = w.fds;
        threads[i] = w.threads;
        heap[i] = w.heap_B;
    }
    check_growth(t, "descriptors", fds, 1);
    check_growth(t, "threads", threads, 1);
    check_growth(t, "bytes", heap, driver_is_here() ? DRIVER_B : 1);
}

static void check_left(struct trial *t, const struct witness *before)
{
    struct witness after = witness_look();
    bool driver = driver_is_here();
    if (!driver && after.fds > before->fds)
        trial_fault(t, "leaves %ld descriptors open after close()", after.fds - before->fds);
    if (!driver && after.threads > before->threads)
        trial_fault(t, "leaves %ld threads running after close()", after.threads - before->threads);
    if (strcmp(setlocale(LC_ALL, NULL), "C"))
        trial_fault(t, "calls setlocale: numbers are written as in C");
}

/* ---- the whole ---- */

static bool all_good(const struct trial *t)
{
    return trial_agree(t, t->faults ? WL_FAIL : WL_OK) == WL_OK;
}

static void exercise_all(struct trial *t)
{
    char why[512];
    void *cell = xcalloc(1, t->wl->cell_size);
    params_default(t->wl->params, cell, why, sizeof why);
    describe_nonsense(t, cell);
    snprintf(t->cell, sizeof t->cell, "default");
    exercise(t, cell);
    for (const struct wl_param *p = t->wl->params; p->name && all_good(t); p++)
        if (p->role != WL_AXIS)
            exercise_choices(t, cell, p);
    check_cycles(t, cell);
    t->cell[0] = '\0';
    free(cell);
}

static int opened(struct trial *t)
{
    struct witness before = witness_look();
    enum wl_status s = trial_open(t);
    if (s == WL_OK) {
        exercise_all(t);
        trial_close(t);
        check_left(t, &before);
    }
    return t->faults || s == WL_FAIL ? GS_FAILED : s == WL_SKIP ? GS_CANNOT : GS_OK;
}

int rank_conformance(const char *path, struct wl_host *host)
{
    struct trial t;
    int code = trial_begin(&t, host);
    if (code)
        return code;
    code = trial_load(&t, path);
    if (trial_agree(&t, code ? WL_FAIL : WL_OK) == WL_OK)
        code = opened(&t);
    trial_end(&t, code);
    return code;
}
