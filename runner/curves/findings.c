/* SPDX-License-Identifier: Apache-2.0 */
#include "curves/findings.h"

#include "base/stats.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_finding(struct findings *f, struct finding one)
{
    if (f->n < sizeof f->v / sizeof *f->v)
        f->v[f->n++] = one;
}

/* ---- what is left out before the fit ---- */

double findings_first_row(const double *time, size_t n)
{
    double rest[4];
    if (n < TRANSITIONS_LEAST)
        return 0;
    memcpy(rest, time + 1, sizeof rest);
    double median = stats_quantile_of(rest, 4, 0.5), least = INFINITY, most = 0;
    for (size_t i = 0; i < 4; i++) {
        least = fmin(least, rest[i]);
        most = fmax(most, rest[i]);
    }
    double excess = log(time[0] / median);
    return excess > fmax(log1p(TRANSITION_ARTEFACT), 4 * log(most / least)) ? excess : 0;
}

/* The least height of the points first..last above the line between their neighbours. */
static double above_neighbours(const double *size, const double *time, size_t first, size_t last)
{
    double x0 = log(size[first - 1]), x1 = log(size[last + 1]);
    double y0 = log(time[first - 1]), y1 = log(time[last + 1]), least = INFINITY;
    for (size_t i = first; i <= last; i++) {
        double line = y0 + (y1 - y0) * (log(size[i]) - x0) / (x1 - x0);
        least = fmin(least, log(time[i]) - line);
    }
    return least;
}

/* The median distance of a point from the line between its neighbours. */
static double roughness(const struct trace *t)
{
    AUTO_FREE double *off = xmalloc(t->n * sizeof *off);
    for (size_t i = 1; i + 1 < t->n; i++)
        off[i - 1] = fabs(above_neighbours(t->size, t->time, i, i));
    return stats_quantile_of(off, t->n - 2, 0.5);
}

static size_t spike_width(const double *size, const double *time, size_t n, size_t at, double least,
                          double *change)
{
    for (size_t width = 1; width <= 2 && at + width < n; width++) {
        *change = above_neighbours(size, time, at, at + width - 1);
        double next = 1.05 * time[at + width];
        if (*change > least && time[at] > next && time[at + width - 1] > next)
            return width;
    }
    return 0;
}

static void drop(struct trace *t, size_t at, size_t count)
{
    memmove(t->size + at, t->size + at + count, (t->n - at - count) * sizeof *t->size);
    memmove(t->time + at, t->time + at + count, (t->n - at - count) * sizeof *t->time);
    t->n -= count;
}

static void leave_out(struct trace *t, double first_row, struct findings *f)
{
    double change;
    if (first_row > 0) {
        add_finding(f, (struct finding){
                           .kind = TRANSITION_FIRST_ROW, .size = t->size[0], .change = first_row});
        drop(t, 0, 1);
    }
    double least = t->n > 2 ? fmax(log1p(TRANSITION_SPIKE), 4 * roughness(t)) : INFINITY;
    for (size_t i = 1; i + 1 < t->n && t->n > TRANSITIONS_LEAST; i++) {
        size_t width = spike_width(t->size, t->time, t->n, i, least, &change);
        if (!width)
            continue;
        add_finding(f, (struct finding){.kind = TRANSITION_SPIKED,
                                        .first = i - 1,
                                        .last = i,
                                        .size = t->size[i],
                                        .change = change});
        drop(t, i, width);
    }
}

/* ---- the fit and its breaks ---- */

static void find_break(const struct trace *t, size_t k, struct findings *f)
{
    const struct hockney *left = &t->fit.piece[k], *right = &t->fit.piece[k + 1];
    size_t last = t->fit.first[k + 1] - 1;
    double mid = sqrt(t->size[last] * t->size[last + 1]);
    double jump = log(hockney_time(right, mid) / hockney_time(left, mid));
    bool jumps = fabs(jump) > fmax(log1p(TRANSITION_JUMP), 2 * t->fit.error);
    add_finding(f, (struct finding){.kind = TRANSITION_KINK,
                                    .first = last,
                                    .last = last + 1,
                                    .size = mid,
                                    .change = jump,
                                    .piece = k,
                                    .jumps = jumps,
                                    .falls = right->b_Bps < left->b_Bps});
}

static void find_half(const struct trace *t, size_t k, struct findings *f)
{
    const struct hockney *h = &t->fit.piece[k];
    double half = h->a_s * h->b_Bps;
    size_t first = t->fit.first[k], last = t->fit.first[k + 1] - 1;
    if (!(half > t->size[first] && half < t->size[last]))
        return;
    size_t at = first;
    while (at + 1 < last && t->size[at + 1] <= half)
        at++;
    add_finding(
        f, (struct finding){
               .kind = TRANSITION_KNEE, .first = at, .last = at + 1, .size = half, .piece = k});
}

static double below(const struct trace *t, double most, size_t i)
{
    return log(most * t->time[i] / t->size[i]);
}

/* A shallow dip needs a neighbour of at least half its depth: the noise of one point makes no dip. */
static bool is_dip(const struct trace *t, double most, size_t low)
{
    double depth = below(t, most, low), noise = 2 * t->fit.error;
    double beside = low + 1 < t->n ? below(t, most, low + 1) : 0;
    beside = fmax(beside, below(t, most, low - 1));
    return depth > fmax(log1p(TRANSITION_DIP), noise) ||
           (depth > fmax(log1p(TRANSITION_SHALLOW), noise) && 2 * beside > depth);
}

/* The first larger size that regains half of what was lost; n: none. */
static size_t regained(const struct trace *t, double most, size_t low)
{
    size_t i = low;
    while (i < t->n && 2 * below(t, most, i) > below(t, most, low))
        i++;
    return i;
}

static void find_dips(const struct trace *t, struct findings *f)
{
    double most = 0;
    for (size_t i = 0, end; i < t->n; i = end) {
        size_t low = i;
        for (end = i; end < t->n && t->size[end] / t->time[end] < most; end++)
            low = below(t, most, end) > below(t, most, low) ? end : low;
        if (end > i && is_dip(t, most, low)) {
            size_t back = regained(t, most, low);
            bool dips = back < t->n && t->size[back] <= TRANSITION_DIP_WIDE * t->size[i - 1];
            add_finding(f, (struct finding){.kind = dips ? TRANSITION_DIPPED : TRANSITION_FELL,
                                            .first = i - 1,
                                            .last = dips ? back : low,
                                            .size = t->size[low],
                                            .change = -below(t, most, low)});
        }
        if (end == i)
            most = t->size[end] / t->time[end], end++;
    }
}

void findings_see(struct trace *t, double first_row, bool known, struct findings *f)
{
    f->n = 0;
    leave_out(t, first_row, f);
    t->fit = hockney_pieces(t->size, t->time, t->n);
    for (size_t k = 0; k < t->fit.n; k++) {
        find_half(t, k, f);
        if (!known && k + 1 < t->fit.n)
            find_break(t, k, f);
    }
    find_dips(t, f);
}

struct trace trace_of(const double *size, const double *time, size_t n)
{
    struct trace t = {xmalloc(n * sizeof *size), xmalloc(n * sizeof *time), n, {.n = 0}};
    memcpy(t.size, size, n * sizeof *size);
    memcpy(t.time, time, n * sizeof *time);
    return t;
}

void trace_free(struct trace *t)
{
    free(t->size);
    free(t->time);
}
