/* SPDX-License-Identifier: Apache-2.0 */
#include "curves/hockney.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one piece ---- */

struct points {
    const double *size;
    const double *log_time; /* taken once: a fit needs each about fifty times */
    size_t n;
};

/* With r = 1/(a b), log t = log a + log(1 + r n). For a given r, log a is the mean of the rest; only r
 * is searched for. r = infinity is t = n/b. */
static double log_scale(const struct points *p, double r, double *sse)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < p->n; i++) {
        double rest = p->log_time[i] - (isinf(r) ? log(p->size[i]) : log1p(r * p->size[i]));
        sum += rest;
        squares += rest * rest;
    }
    *sse = fmax(0, squares - sum * sum / (double)p->n);
    return sum / (double)p->n;
}

static double sse_at(const struct points *p, double log_r)
{
    double sse;
    log_scale(p, exp(log_r), &sse);
    return sse;
}

/* The squares against log r have one valley between the flat and the proportional line. */
static double golden(const struct points *p, double lo, double hi)
{
    const double ratio = 0.6180339887498949;
    double x = hi - ratio * (hi - lo), y = lo + ratio * (hi - lo);
    double at_x = sse_at(p, x), at_y = sse_at(p, y);
    while (hi - lo > 1e-3) {
        if (at_x < at_y) {
            hi = y, y = x, at_y = at_x;
            x = hi - ratio * (hi - lo);
            at_x = sse_at(p, x);
        } else {
            lo = x, x = y, at_x = at_y;
            y = lo + ratio * (hi - lo);
            at_y = sse_at(p, y);
        }
    }
    return (lo + hi) / 2;
}

/* n >= 1 points with size and time > 0. */
static struct hockney hockney_fit(const double *size, const double *time, size_t n)
{
    AUTO_FREE double *log_time = xmalloc(n * sizeof *log_time);
    const struct points p = {size, log_time, n};
    for (size_t i = 0; i < n; i++)
        log_time[i] = log(time[i]);
    double sse, best_sse;
    /* At the ends of the range one term is a ten-thousandth of the other. */
    double r = exp(golden(&p, log(1e-4 / size[n - 1]), log(1e4 / size[0])));
    double scale = log_scale(&p, r, &best_sse);
    struct hockney h = {exp(scale), exp(-scale) / r, best_sse};
    scale = log_scale(&p, 0, &sse);
    if (sse <= best_sse * (1 + 1e-9)) {
        h = (struct hockney){exp(scale), INFINITY, sse};
        best_sse = sse;
    }
    scale = log_scale(&p, INFINITY, &sse);
    if (sse < best_sse)
        h = (struct hockney){0, exp(-scale), sse};
    return h;
}

double hockney_time(const struct hockney *h, double size)
{
    return h->a_s + size / h->b_Bps;
}

/* ---- several ---- */

/* best[k][i]: the least squares of the first i points in k+1 pieces; from: where the last piece begins.
 */
struct search {
    struct {
        const double *size, *time;
        size_t n;
    } p;
    double *cost; /* [first * (n+1) + end] of one piece */
    double *best[HOCKNEY_PIECES];
    size_t *from[HOCKNEY_PIECES];
};

static void fit_all(struct search *s)
{
    size_t n = s->p.n;
    for (size_t first = 0; first < n; first++)
        for (size_t end = first + 1; end <= n; end++)
            s->cost[first * (n + 1) + end] =
                end - first < HOCKNEY_LEAST
                    ? INFINITY
                    : hockney_fit(s->p.size + first, s->p.time + first, end - first).sse;
}

static void split_all(struct search *s)
{
    size_t n = s->p.n;
    for (size_t k = 0; k < HOCKNEY_PIECES; k++) {
        for (size_t end = 0; end <= n; end++) {
            s->best[k][end] = k ? INFINITY : s->cost[end];
            s->from[k][end] = 0;
            for (size_t first = 1; k && first < end; first++) {
                double sse = s->best[k - 1][first] + s->cost[first * (n + 1) + end];
                if (sse < s->best[k][end]) {
                    s->best[k][end] = sse;
                    s->from[k][end] = first;
                }
            }
        }
    }
}

static struct piecewise pieces_of(const struct search *s, size_t k)
{
    struct piecewise out = {.n = k};
    double sse = 0;
    out.first[k] = s->p.n;
    for (size_t i = k; i-- > 0;)
        out.first[i] = s->from[i][out.first[i + 1]];
    for (size_t i = 0; i < k; i++) {
        size_t first = out.first[i];
        out.piece[i] = hockney_fit(s->p.size + first, s->p.time + first, out.first[i + 1] - first);
        sse += out.piece[i].sse;
    }
    out.error = sqrt(sse / (double)s->p.n);
    return out;
}

static size_t pieces_by_bic(const struct search *s)
{
    double n = (double)s->p.n, least = INFINITY;
    size_t best = 0;
    for (size_t k = 1; k <= HOCKNEY_PIECES; k++) {
        double variance = fmax(s->best[k - 1][s->p.n] / n, HOCKNEY_FLOOR * HOCKNEY_FLOOR);
        double bic = n * log(variance) + (double)(3 * k - 1) * log(n);
        if (bic < least) {
            least = bic;
            best = k;
        }
    }
    return best;
}

double piecewise_error_out(const struct piecewise *p, const double *size, const double *time,
                           size_t n)
{
    AUTO_FREE double *x = xmalloc(n * sizeof *x), *y = xmalloc(n * sizeof *y);
    double squares = 0;
    size_t count = 0;
    for (size_t k = 0; k < p->n; k++) {
        size_t first = p->first[k], len = p->first[k + 1] - first;
        for (size_t out = 0; len > 2 && out < len; out++) {
            memcpy(x, size + first, out * sizeof *x);
            memcpy(y, time + first, out * sizeof *y);
            memcpy(x + out, size + first + out + 1, (len - out - 1) * sizeof *x);
            memcpy(y + out, time + first + out + 1, (len - out - 1) * sizeof *y);
            struct hockney h = hockney_fit(x, y, len - 1);
            double e = log(time[first + out] / hockney_time(&h, size[first + out]));
            squares += e * e;
            count++;
        }
    }
    return count ? sqrt(squares / (double)count) : (double)NAN;
}

/* A further piece must improve the prediction of points that are left out. */
static struct piecewise confirmed_out(const struct search *s, size_t k)
{
    struct piecewise best = pieces_of(s, 1);
    double least = piecewise_error_out(&best, s->p.size, s->p.time, s->p.n);
    for (size_t more = 2; more <= k; more++) {
        struct piecewise p = pieces_of(s, more);
        double error = piecewise_error_out(&p, s->p.size, s->p.time, s->p.n);
        if (error < least || (error < HOCKNEY_FLOOR && p.error < best.error)) {
            best = p;
            least = error;
        }
    }
    return best;
}

struct piecewise hockney_pieces(const double *size, const double *time, size_t n)
{
    struct search s = {.p = {size, time, n}};
    if (n < HOCKNEY_LEAST)
        return (struct piecewise){.error = NAN};
    s.cost = xcalloc((n + 1) * (n + 1), sizeof *s.cost);
    s.cost[0] = INFINITY;
    for (size_t k = 0; k < HOCKNEY_PIECES; k++) {
        s.best[k] = xcalloc(n + 1, sizeof **s.best);
        s.from[k] = xcalloc(n + 1, sizeof **s.from);
    }
    fit_all(&s);
    split_all(&s);
    struct piecewise out = confirmed_out(&s, pieces_by_bic(&s));
    for (size_t k = 0; k < HOCKNEY_PIECES; k++) {
        free(s.best[k]);
        free(s.from[k]);
    }
    free(s.cost);
    return out;
}
