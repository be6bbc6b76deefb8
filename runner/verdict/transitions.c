/* SPDX-License-Identifier: Apache-2.0 */
#include "transitions.h"

#include "stats.h"
#include "text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const transition_names[] = {
    [TRANSITION_FIRST_ROW] = "first row",
    [TRANSITION_SPIKED] = "spike",
    [TRANSITION_SWITCH] = "protocol switch",
    [TRANSITION_KNEE] = "knee",
    [TRANSITION_DIPPED] = "dip",
    [TRANSITION_FIT] = "fit",
    [TRANSITION_REFUSED] = "refused",
};

static const struct hockney no_piece = {(double)NAN, (double)NAN, (double)NAN};

/* One row of times with what has been seen in it: the points kept, and the fit of those. */
struct trace {
    double *size, *time; /* kept; owned */
    size_t n;
    struct piecewise fit;
};

struct finding { /* where a feature stands in a trace */
    enum transition_kind kind;
    size_t first, last; /* kept points it lies between, or covers */
    double size, change;
    size_t piece; /* before it; of a fit or an n½: itself */
    bool within;  /* an n½ inside its piece; a dip that is not regained */
    bool jumps;   /* at a break */
};

struct findings {
    struct finding v[64];
    size_t n;
};

static void add_finding(struct findings *f, struct finding one)
{
    if (f->n < sizeof f->v / sizeof *f->v)
        f->v[f->n++] = one;
}

/* ---- what is left out before the fit ---- */

/* How far the first row is above the four after it, by more than they differ among themselves; 0:
 * not so. The first alone pays for what is done once. */
static double first_row_excess(const double *time, size_t n)
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

/* How far the points first..last are above the line between their neighbours, the least of them. */
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

static size_t spike_width(const double *size, const double *time, size_t n, size_t at,
                          double *change)
{
    for (size_t width = 1; width <= 2 && at + width < n; width++) {
        *change = above_neighbours(size, time, at, at + width - 1);
        if (*change > log1p(TRANSITION_SPIKE) && time[at + width - 1] > 1.05 * time[at + width])
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
    for (size_t i = 1; i + 1 < t->n && t->n > TRANSITIONS_LEAST; i++) {
        size_t width = spike_width(t->size, t->time, t->n, i, &change);
        if (!width)
            continue;
        add_finding(
            f, (struct finding){TRANSITION_SPIKED, i - 1, i, t->size[i], change, 0, false, false});
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
    bool bends_up = right->b_Bps < left->b_Bps;
    add_finding(f, (struct finding){!jumps && bends_up ? TRANSITION_KNEE : TRANSITION_SWITCH, last,
                                    last + 1, mid, jump, k, false, jumps});
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
    add_finding(f, (struct finding){TRANSITION_KNEE, at, at + 1, half, 0, k, true, false});
}

static void find_dips(const struct trace *t, struct findings *f)
{
    double most = 0, depth = log1p(TRANSITION_DIP);
    for (size_t i = 0; i < t->n; i++) {
        double rate = t->size[i] / t->time[i];
        size_t low = i, end = i;
        if (log(most / rate) > fmax(depth, 2 * t->fit.error)) {
            for (; end < t->n && t->size[end] / t->time[end] < most; end++)
                if (t->size[end] / t->time[end] < t->size[low] / t->time[low])
                    low = end;
            double change = log(t->size[low] / t->time[low] / most);
            add_finding(f, (struct finding){TRANSITION_DIPPED, i - 1, end < t->n ? end : t->n - 1,
                                            t->size[low], change, 0, end == t->n, false});
            i = end - 1;
            continue;
        }
        most = fmax(most, rate);
    }
}

/* first_row: its excess, 0 when it has none. */
static void see(struct trace *t, double first_row, struct findings *f)
{
    f->n = 0;
    leave_out(t, first_row, f);
    t->fit = hockney_pieces(t->size, t->time, t->n);
    for (size_t k = 0; k < t->fit.n; k++) {
        find_half(t, k, f);
        if (k + 1 < t->fit.n)
            find_break(t, k, f);
    }
    find_dips(t, f);
}

static struct trace trace_of(const double *size, const double *time, size_t n)
{
    struct trace t = {xmalloc(n * sizeof *size), xmalloc(n * sizeof *time), n, {.n = 0}};
    memcpy(t.size, size, n * sizeof *size);
    memcpy(t.time, time, n * sizeof *time);
    return t;
}

static void trace_free(struct trace *t)
{
    free(t->size);
    free(t->time);
}

/* ---- chaos ---- */

static double disagreement(const struct curve *c)
{
    double *ratios = xmalloc(c->n * sizeof *ratios);
    for (size_t i = 0; i < c->n; i++) {
        double least = INFINITY, most = 0;
        for (size_t r = 0; r < c->replicates; r++) {
            least = fmin(least, c->time[r][i]);
            most = fmax(most, c->time[r][i]);
        }
        ratios[i] = log(most / least);
    }
    double median = stats_quantile_of(ratios, c->n, 0.5);
    free(ratios);
    return median;
}

static double falling(const double *time, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i + 1 < n; i++)
        count += time[i + 1] < 0.9 * time[i];
    return (double)count / (double)(n - 1);
}

/* Why nothing is said of the curve, into why; false when something can be. */
static bool refuse(const struct curve *c, const struct trace *t, char *why, size_t size)
{
    double apart = disagreement(c), share = falling(t->time, t->n);
    if (c->n < TRANSITIONS_LEAST)
        snprintf(why, size, "%zu sizes, and %d are the least in which a break can be told", c->n,
                 TRANSITIONS_LEAST);
    else if (share > TRANSITION_FALLING)
        snprintf(why, size, "chaotic: in %.0f%% of the steps the larger size is faster",
                 100 * share);
    else if (apart > TRANSITION_DISAGREE)
        snprintf(why, size, "chaotic: replicates are %.1f times apart at half of the sizes",
                 exp(apart));
    else
        return false;
    return true;
}

/* ---- all together ---- */

static void median_curve(const struct curve *c, double *out)
{
    double *x = xmalloc(c->replicates * sizeof *x);
    for (size_t i = 0; i < c->n; i++) {
        for (size_t r = 0; r < c->replicates; r++)
            x[r] = c->time[r][i];
        out[i] = stats_quantile_of(x, c->replicates, 0.5);
    }
    free(x);
}

/* One measured size away at most; an n½ moves with the noise of a and b: within a factor of 2. */
static bool same_place(const struct curve *c, const struct finding *a, const struct finding *b)
{
    size_t steps = 0;
    bool breaks = (a->kind == TRANSITION_SWITCH || a->kind == TRANSITION_KNEE) && !a->within &&
                  (b->kind == TRANSITION_SWITCH || b->kind == TRANSITION_KNEE) && !b->within;
    if (!breaks && (a->kind != b->kind || (a->kind == TRANSITION_KNEE && a->within != b->within)))
        return false;
    for (size_t i = 0; i < c->n; i++)
        steps += c->size[i] > fmin(a->size, b->size) * 1.0001 &&
                 c->size[i] < fmax(a->size, b->size) * 0.9999;
    bool between = breaks || a->within;
    return a->size == b->size || steps <= (between ? 1 : 0);
}

static void say_why(struct transition *t, const struct finding *f)
{
    const char *why = "";
    if (f->kind == TRANSITION_KNEE)
        why = f->within ? "n1/2: latency-bound below, bandwidth-bound above"
                        : "the bandwidth falls without a jump in time";
    else if (f->kind == TRANSITION_SWITCH)
        why = !f->jumps       ? "no jump, and more bandwidth above"
              : f->change > 0 ? "the time jumps up"
                              : "the time drops";
    else if (f->kind == TRANSITION_DIPPED)
        why = f->within ? "not regained in the sizes measured" : "regained at larger sizes";
    else if (f->kind == TRANSITION_FIRST_ROW)
        why = "measured first, and slower than the four sizes after it: warm-up";
    else if (f->kind == TRANSITION_SPIKED)
        why = "above both neighbours, and the next size is faster";
    snprintf(t->why, sizeof t->why, "%s", why);
}

static struct transition *add(struct transitions *t, enum transition_kind kind)
{
    t->v = xrealloc(t->v, (t->n + 1) * sizeof *t->v);
    t->v[t->n] =
        (struct transition){.kind = kind, .before = no_piece, .after = no_piece, .change = NAN};
    return &t->v[t->n++];
}

static void add_feature(struct transitions *out, const struct trace *t, const struct finding *f,
                        bool fixed)
{
    struct transition *one = add(out, f->kind);
    bool breaks = (f->kind == TRANSITION_KNEE || f->kind == TRANSITION_SWITCH) && !f->within;
    one->size = one->low = one->high = f->size;
    if (f->kind != TRANSITION_FIRST_ROW) {
        one->low = t->size[f->first];
        one->high = t->size[f->last];
    }
    if (breaks || (f->kind == TRANSITION_KNEE && f->within))
        one->before = one->after = t->fit.piece[f->piece];
    if (breaks)
        one->after = t->fit.piece[f->piece + 1];
    if (!(f->kind == TRANSITION_KNEE && f->within))
        one->change = expm1(f->change);
    say_why(one, f);
    if (fixed && f->kind == TRANSITION_SWITCH)
        one->kind = TRANSITION_KNEE;
}

static void add_fits(struct transitions *out, const struct trace *t)
{
    for (size_t k = 0; k < t->fit.n; k++) {
        struct transition *one = add(out, TRANSITION_FIT);
        one->after = t->fit.piece[k];
        one->low = one->size = t->size[t->fit.first[k]];
        one->high = t->size[t->fit.first[k + 1] - 1];
    }
}

static void count_agreement(const struct curve *c, struct transitions *out,
                            const struct findings *f)
{
    for (size_t r = 0; r < c->replicates; r++) {
        struct trace t = trace_of(c->size, c->time[r], c->n);
        struct findings *own = xcalloc(1, sizeof *own);
        see(&t, first_row_excess(c->time[r], c->n), own);
        for (size_t i = 0; i < f->n; i++) {
            bool found = false;
            for (size_t j = 0; j < own->n && !found; j++)
                found = same_place(c, &f->v[i], &own->v[j]);
            out->v[i].agree += found;
        }
        free(own);
        trace_free(&t);
    }
}

static void refused(struct transitions *out, const struct curve *c, const char *why)
{
    struct transition *one = add(out, TRANSITION_REFUSED);
    one->low = one->size = c->size[0];
    one->high = c->size[c->n - 1];
    snprintf(one->why, sizeof one->why, "%s", why);
    out->error_in = out->error_out = NAN;
}

/* One column of two is enough: the other was measured after it, warm. */
static double worst_first_row(const struct curve *c)
{
    double most = 0;
    for (size_t r = 0; r < c->replicates; r++)
        most = fmax(most, first_row_excess(c->time[r], c->n));
    return most;
}

struct transitions transitions_find(const struct curve *c)
{
    char why[128];
    struct transitions out = {.replicates = c->replicates};
    double *median = xmalloc(c->n * sizeof *median);
    median_curve(c, median);
    struct trace t = trace_of(c->size, median, c->n);
    struct findings *f = xcalloc(1, sizeof *f);
    if (refuse(c, &t, why, sizeof why)) {
        refused(&out, c, why);
    } else {
        see(&t, worst_first_row(c), f);
        out.error_in = t.fit.error;
        out.error_out = piecewise_error_out(&t.fit, t.size, t.time, t.n);
        if (out.error_in > TRANSITION_CHAOS) {
            snprintf(why, sizeof why, "chaotic: the best fit is off by %.0f%%", 100 * out.error_in);
            refused(&out, c, why);
        } else {
            for (size_t i = 0; i < f->n; i++)
                add_feature(&out, &t, &f->v[i], c->fixed);
            count_agreement(c, &out, f);
            add_fits(&out, &t);
        }
    }
    free(f);
    free(median);
    trace_free(&t);
    return out;
}

void transitions_free(struct transitions *t)
{
    free(t->v);
    *t = (struct transitions){0};
}

const char *transition_verdict(const struct transitions *t, const struct transition *one)
{
    if (one->kind == TRANSITION_FIT || one->kind == TRANSITION_REFUSED)
        return transition_names[one->kind];
    if (one->kind == TRANSITION_FIRST_ROW)
        return "artefact";
    if (t->replicates < 2)
        return "unconfirmed";
    return 2 * one->agree > t->replicates ? "confirmed" : "not confirmed";
}
