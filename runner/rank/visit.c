/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/visit.h"

#include "base/stats.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TRIES = 11 };      /* the first, and ten repetitions */
#define TIME_BEYOND 10    /* a sample's time may be so many times as long as end_ns - start_ns */
#define TIME_SLACK_S 1e-3 /* and longer by this */

/* Rows of int64 reduced with MPI_MAX; a minimum is the maximum of negated values. */
enum { TIME, MINUS_TIME, START, MINUS_START, END, INVALID, ROWS };

void visit_begin(struct visit *v, const struct session *r)
{
    size_t cap = (size_t)r->plan->set.measure.samples, metrics = 0;
    while (r->wl->metrics[metrics].name)
        metrics++;
    *v = (struct visit){.cap = cap, .metrics = metrics};
    v->mine = xcalloc(ROWS * cap + 1, sizeof *v->mine);
    v->all = xcalloc(ROWS * cap + 1, sizeof *v->all);
    v->values = xcalloc(metrics * cap, sizeof *v->values);
    v->reduced = xcalloc(metrics * cap, sizeof *v->reduced);
    v->kept = xcalloc(metrics * cap, sizeof *v->kept);
    v->skew = xcalloc(cap, sizeof *v->skew);
    v->spread = xcalloc(cap, sizeof *v->spread);
    v->time = xcalloc(cap, sizeof *v->time);
}

void visit_end(struct visit *v)
{
    free(v->mine);
    free(v->all);
    free(v->values);
    free(v->reduced);
    free(v->kept);
    free(v->skew);
    free(v->spread);
    free(v->time);
    *v = (struct visit){0};
}

static void keep_why(struct session *r, struct slot *s, const char *otherwise)
{
    snprintf(s->why, sizeof s->why, "%s", *r->api.why ? r->api.why : otherwise);
    snprintf(r->beat->said, sizeof r->beat->said, "%s", s->why);
}

/* False, with the reason in `why`: a time that cannot be. One that is far longer than the operation is
 * in a wrong unit, or of all iterations. A plugin of one iteration may extrapolate it from a rate. */
static bool time_can_be(const struct slot *s, const struct wl_sample *x, char *why, size_t n)
{
    double one_s = x->values[0], total_s = one_s * s->iters, span_s = INFINITY;
    if (x->end_ns > x->start_ns && s->cell->shape.iters_max != 1)
        span_s = (double)(x->end_ns - x->start_ns) * 1e-9;
    if (!(one_s > 0 && total_s < 1e9))
        snprintf(why, n, "sample() gave a time of %g s", one_s);
    else if (total_s > TIME_BEYOND * span_s + TIME_SLACK_S)
        snprintf(why, n,
                 "sample(): %u iterations of values[0] = %g s last longer than end_ns - start_ns = "
                 "%g s; values[0] is the time of one iteration in seconds",
                 s->iters, one_s, span_s);
    else
        return true;
    return false;
}

/* Takes one sample on this rank and checks its time. */
static enum call_result sample(struct session *r, struct slot *s, struct wl_sample *out)
{
    *out = (struct wl_sample){.size = sizeof *out};
    enum call_result result = session_result(r, r->wl->sample(s->prepared, s->iters, out));
    if (result == FINE && !time_can_be(s, out, r->api.why, sizeof r->api.why))
        result = FAILED;
    return result;
}

static void put(struct visit *v, const struct session *r, const struct slot *s, size_t n, size_t i,
                const struct wl_sample *x)
{
    int64_t time_ns = llround(x->values[0] * s->iters * 1e9);
    int64_t start_ns = (int64_t)x->start_ns + r->team.clock_offset_ns;
    v->mine[TIME * n + i] = time_ns;
    v->mine[MINUS_TIME * n + i] = -time_ns;
    v->mine[START * n + i] = start_ns;
    v->mine[MINUS_START * n + i] = -start_ns;
    v->mine[END * n + i] = (int64_t)x->end_ns + r->team.clock_offset_ns;
    for (size_t m = 1; m < v->metrics; m++)
        v->values[m * n + i] = x->values[m];
}

/* Takes `discard` + n samples. It continues after a failed one, because other ranks may be in an
 * operation that needs this rank. */
static enum call_result take(struct visit *v, struct session *r, struct slot *s, size_t discard,
                             size_t n)
{
    enum call_result worst = FINE;
    r->api.why[0] = r->beat->said[0] = '\0';
    for (size_t i = 0; i < discard + n && worst != HANGING; i++) {
        struct wl_sample x;
        enum call_result result = sample(r, s, &x);
        if (result > worst) {
            keep_why(r, s, "sample() failed without a reason");
            worst = result;
        }
        if (i < discard)
            continue;
        v->mine[INVALID * n + i - discard] = result == AGAIN;
        if (result == FINE)
            put(v, r, s, n, i - discard, &x);
    }
    s->operations += (discard + n) * s->iters;
    return worst;
}

/* A rank's mean of the samples of a metric, to rank 0. */
static void gather_each(const struct session *r, struct visited *o, size_t m, const double *row,
                        size_t n)
{
    double mine = stats_mean(row, n);
    if (!o->each)
        o->each = xcalloc((size_t)WL_METRICS_MAX * (size_t)r->team.ranks, sizeof *o->each);
    MPI_Gather(&mine, 1, MPI_DOUBLE, o->each + m * (size_t)r->team.ranks, 1, MPI_DOUBLE, 0,
               r->team.comm);
}

static void reduce(struct visit *v, const struct session *r, struct visited *o, size_t n)
{
    atomic_store(&r->beat->waiting, 1);
    MPI_Allreduce(v->mine, v->all, (int)(ROWS * n + 1), MPI_INT64_T, MPI_MAX, r->team.comm);
    for (size_t m = 1; m < v->metrics; m++) {
        enum wl_across how = r->wl->metrics[m].across;
        MPI_Op op = how == WL_MAX ? MPI_MAX : MPI_SUM;
        double *row = &v->reduced[m * n];
        MPI_Reduce(&v->values[m * n], row, (int)n, MPI_DOUBLE, op, 0, r->team.comm);
        for (size_t i = 0; how >= WL_MEAN && i < n; i++)
            row[i] /= r->team.ranks;
        if (how == WL_EACH)
            gather_each(r, o, m, &v->values[m * n], n);
    }
    atomic_store(&r->beat->waiting, 0);
}

/* Adds the valid ones of n reduced samples. */
static void keep(struct visit *v, struct slot *s, size_t n)
{
    struct visited *o = &s->visited;
    for (size_t i = 0; i < n; i++) {
        if (v->all[INVALID * n + i])
            continue;
        int64_t first_start = -v->all[MINUS_START * n + i], time = v->all[TIME * n + i];
        if (s->cell->shape.span)
            time = v->all[END * n + i] - first_start;
        v->skew[o->n] = (double)(v->all[START * n + i] - first_start);
        v->spread[o->n] = (double)(v->all[TIME * n + i] + v->all[MINUS_TIME * n + i]);
        v->time[o->n] = (double)time;
        o->time_ns[o->n] = time > 0 ? (uint64_t)time : 0;
        for (size_t m = 1; m < v->metrics; m++)
            v->kept[m * v->cap + o->n] = v->reduced[m * n + i];
        o->n++;
    }
}

/* A metric that some rank has not is NaN in every sample. */
static double median_or_none(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return NAN;
    return stats_median(x, n);
}

static void summarise(const struct visit *v, struct slot *s)
{
    struct visited *o = &s->visited;
    o->skew_ns = (uint64_t)stats_median(v->skew, o->n);
    o->spread_ns = (uint64_t)stats_median(v->spread, o->n);
    o->metrics[0] = stats_median(v->time, o->n) * 1e-9 / s->iters;
    for (size_t m = 1; m < v->metrics; m++)
        o->metrics[m] = median_or_none(&v->kept[m * v->cap], o->n);
}

enum call_result visit(struct visit *v, struct session *r, struct slot *s, size_t discard, size_t n,
                       enum call_result *mine)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    s->visited.at = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    s->visited.n = 0;
    for (int i = 0; i < TRIES; i++) {
        size_t lacking = n - s->visited.n;
        *mine = take(v, r, s, i ? 0 : discard, lacking);
        v->mine[ROWS * lacking] = *mine;
        reduce(v, r, &s->visited, lacking);
        enum call_result worst = (enum call_result)v->all[ROWS * lacking];
        if (worst > AGAIN)
            return worst;
        keep(v, s, lacking);
        if (s->visited.n == n) {
            summarise(v, s);
            return FINE;
        }
    }
    if (*mine == AGAIN)
        *mine = FAILED;
    return FAILED;
}
