/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stats.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- order statistics ---- */

static double median_of_3(double a, double b, double c)
{
    double lo = a < b ? a : b, hi = a < b ? b : a;
    return c < lo ? lo : c > hi ? hi : c;
}

/* Moves what is below the pivot (with `equal`: not above it) to the front; how many there are. No
 * branch depends on the data: on blocks of a hundred samples that is most of the time. */
static size_t partition(double *x, size_t n, double pivot, bool equal)
{
    size_t front = 0;
    for (size_t i = 0; i < n; i++) {
        double v = x[i];
        x[i] = x[front];
        x[front] = v;
        front += (size_t)((v < pivot) | (equal & (v == pivot)));
    }
    return front;
}

/* Quickselect: afterwards x[k] is the k-th smallest, nothing left of it is above it, nothing right
 * of it below. Pivots from a fixed pseudo-random stream: no pattern in the data makes it
 * quadratic. */
static double select_kth(double *x, size_t n, size_t k)
{
    uint64_t state = n;
    while (n > 1) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double pivot = median_of_3(x[0], x[n - 1], x[(state >> 33) % n]);
        size_t below = partition(x, n, pivot, false);
        if (k < below) {
            n = below;
            continue;
        }
        x += below;
        n -= below;
        k -= below;
        size_t equal = partition(x, n, pivot, true);
        if (k < equal)
            return pivot;
        x += equal;
        n -= equal;
        k -= equal;
    }
    return x[k];
}

double stats_quantile_of(double *x, size_t n, double p)
{
    if (n == 0)
        return NAN;
    double h = p * (double)(n - 1);
    size_t k = (size_t)h;
    double lo = select_kth(x, n, k);
    if (k + 1 >= n || h <= (double)k)
        return lo;
    double hi = x[k + 1];
    for (size_t i = k + 2; i < n; i++)
        hi = x[i] < hi ? x[i] : hi;
    return lo + (h - (double)k) * (hi - lo);
}

static double *copy_of(const double *x, size_t n)
{
    double *copy = xmalloc(n * sizeof *copy);
    if (n)
        memcpy(copy, x, n * sizeof *copy);
    return copy;
}

double stats_quantile(const double *x, size_t n, double p)
{
    AUTO_FREE double *copy = copy_of(x, n);
    return stats_quantile_of(copy, n, p);
}

double stats_median(const double *x, size_t n)
{
    return stats_quantile(x, n, 0.5);
}

struct interval stats_median_ci(const double *x, size_t n, double level)
{
    if (n == 0)
        return (struct interval){NAN, NAN, 0};
    /* Terms further than 20 standard deviations from the middle add less than 1e-80. */
    double first = floor((double)n / 2 - 10 * sqrt((double)n));
    size_t k = first > 0 ? (size_t)first : 0; /* x[k], x[n-1-k]; outside lie i <= k values */
    /* P(Binomial(n, 1/2) = k), through logarithms: 2^-n underflows from n = 1075 on. */
    double N = (double)n, K = (double)k;
    double tail = exp(lgamma(N + 1) - lgamma(K + 1) - lgamma(N - K + 1) - N * log(2));
    double coverage = 1 - 2 * tail;
    for (double term = tail; k + 1 < n / 2; k++) {
        term *= (double)(n - k) / (double)(k + 1);
        if (1 - 2 * (tail + term) < level)
            break;
        tail += term;
        coverage = 1 - 2 * tail;
    }
    AUTO_FREE double *copy = copy_of(x, n);
    struct interval ci = {.lo = select_kth(copy, n, k), .coverage = coverage};
    ci.hi = select_kth(copy, n, n - 1 - k);
    return ci;
}

/* ---- series ---- */

double stats_mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / (double)n : NAN;
}

double stats_mean_error(const double *x, size_t n)
{
    double mean = stats_mean(x, n), squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : NAN;
}

double stats_middle_mean(const double *x, size_t n)
{
    AUTO_FREE double *copy = copy_of(x, n);
    size_t cut = n < 3 ? 0 : (n + 4) / 5;
    if (cut) {
        select_kth(copy, n, cut); /* the lowest are before it */
        select_kth(copy + cut, n - cut, n - 2 * cut - 1);
    }
    return stats_mean(copy + cut, n - 2 * cut);
}

size_t stats_warmup(const double *x, size_t n, size_t most)
{
    if (n < 8)
        return 0;
    /* From the back, so that each d costs one step of Welford's recurrence. */
    double mean = 0, m2 = 0, best = INFINITY, rest = 0, rest_m2 = 0;
    size_t warm = 0;
    for (size_t d = n; d-- > 0;) {
        double m = (double)(n - d), delta = x[d] - mean;
        mean += delta / m;
        m2 += delta * (x[d] - mean);
        if (d <= n / 2 && m2 / (m * m) <= best) {
            best = m2 / (m * m);
            warm = d;
            rest = mean;
            rest_m2 = m2;
        }
    }
    if (warm == 0 || warm > most)
        return 0;
    double kept = (double)(n - warm);
    double error = sqrt(rest_m2 / (kept - 1) * (1 / (double)warm + 1 / kept));
    return fabs(stats_mean(x, warm) - rest) > (3 + 24 / (double)n) * error ? warm : 0;
}

struct change stats_change(const double *x, size_t n)
{
    const size_t least = 20;
    double mean = stats_mean(x, n), all = 0, before = 0, best = 0;
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        all += (x[i] - mean) * (x[i] - mean);
    for (size_t d = 1; d < n; d++) {
        before += x[d - 1] - mean;
        double explained = before * before * (double)n / ((double)d * (double)(n - d));
        if (explained > best) {
            best = explained;
            at = d;
        }
    }
    if (n < least || best <= all / 2)
        return (struct change){0};
    struct change c = {at, stats_median(x, at), stats_median(x + at, n - at)};
    return c.before == c.after ? (struct change){0} : c; /* equal values differ by rounding */
}

/* ---- launches and blocks ---- */

/* Runs of equal launch in x: first[i] is where the i-th starts, first[count] is n. */
static size_t launches_of(const struct nested *x, size_t n, size_t *first)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || x[i].launch != x[i - 1].launch)
            first[count++] = i;
    first[count] = n;
    return count;
}

double stats_launch_mean(const struct nested *x, size_t n)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < n; count++) {
        size_t first = i;
        double launch = 0;
        for (; i < n && x[i].launch == x[first].launch; i++)
            launch += x[i].value;
        sum += launch / (double)(i - first);
    }
    return count ? sum / (double)count : NAN;
}

/* The values in their order, and the place of each in it: a draw is counted by place, so that its
 * median is found without looking at values. */
struct ranked {
    double *sorted;
    uint32_t *rank, *count; /* count: how often the value of a place was drawn */
};

static int by_value(const void *a, const void *b)
{
    const struct nested *x = *(const struct nested *const *)a,
                        *y = *(const struct nested *const *)b;
    return (x->value > y->value) - (x->value < y->value);
}

static struct ranked rank_values(const struct nested *x, size_t n)
{
    struct ranked r = {xmalloc(n * sizeof *r.sorted), xmalloc(n * sizeof *r.rank),
                       xmalloc(n * sizeof *r.count)};
    AUTO_FREE const struct nested **order = xmalloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = &x[i];
    qsort(order, n, sizeof *order, by_value);
    for (size_t i = 0; i < n; i++) {
        r.sorted[i] = order[i]->value;
        r.rank[order[i] - x] = (uint32_t)i;
    }
    return r;
}

/* As many launches as there are, each with as many blocks as it has; one that is drawn twice counts
 * as two. How many values. */
static size_t resample(struct ranked *r, const size_t *first, size_t launches, struct rng *rng)
{
    size_t n = 0;
    struct rng here = *rng; /* in registers */
    memset(r->count, 0, first[launches] * sizeof *r->count);
    for (size_t i = 0; i < launches; i++) {
        size_t l = (size_t)rng_below(&here, launches), blocks = first[l + 1] - first[l];
        for (size_t b = 0; b < blocks; b++)
            r->count[r->rank[first[l] + rng_below(&here, blocks)]]++;
        n += blocks;
    }
    *rng = here;
    return n;
}

/* Of the n that were drawn, as stats_median would say. */
static double median_drawn(const struct ranked *r, size_t n)
{
    size_t k = (n - 1) / 2, i = 0, seen = r->count[0];
    while (seen <= k)
        seen += r->count[++i];
    double lo = r->sorted[i];
    if (n % 2)
        return lo;
    while (seen <= k + 1)
        seen += r->count[++i];
    return lo + 0.5 * (r->sorted[i] - lo);
}

struct interval stats_bootstrap_median(const struct nested *x, size_t n, size_t draws, double level,
                                       struct rng *rng)
{
    if (n == 0 || draws == 0)
        return (struct interval){NAN, NAN, 0};
    AUTO_FREE size_t *first = xmalloc((n + 1) * sizeof *first);
    size_t launches = launches_of(x, n, first);
    struct ranked r = rank_values(x, n);
    AUTO_FREE double *values = xmalloc(draws * sizeof *values);
    for (size_t i = 0; i < draws; i++)
        values[i] = median_drawn(&r, resample(&r, first, launches, rng));
    struct interval ci = {.lo = stats_quantile_of(values, draws, (1 - level) / 2),
                          .coverage = level};
    ci.hi = stats_quantile_of(values, draws, (1 + level) / 2);
    free(r.sorted);
    free(r.rank);
    free(r.count);
    return ci;
}

/* ---- Student's t ---- */

static double away_from_0(double x)
{
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* The continued fraction of I_x(a, b), for x < (a + 1) / (a + b + 2) (NIST DLMF 8.17.22). */
static double fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_0(1 - (a + b) * x / (a + 1)), f = d;
    for (int m = 1; m < 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away_from_0(1 + even * d);
        c = away_from_0(1 + even / c);
        f *= c * d;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_0(1 + odd * d);
        c = away_from_0(1 + odd / c);
        f *= c * d;
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return f;
}

/* I_x(a, b); y is 1 - x, known to more digits than the difference when x is near 1. */
static double incomplete_beta(double a, double b, double x, double y)
{
    if (x <= 0 || y <= 0)
        return x > 0;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    return x < (a + 1) / (a + b + 2) ? front * fraction(a, b, x) / a
                                     : 1 - front * fraction(b, a, y) / b;
}

double student_tail(double t, double df)
{
    if (isinf(t))
        return t > 0 ? 0 : 1;
    double t2 = t * t, half = 0.5 * incomplete_beta(df / 2, 0.5, df / (df + t2), t2 / (df + t2));
    return t > 0 ? half : 1 - half;
}

static double density(double t, double df)
{
    return exp(lgamma((df + 1) / 2) - lgamma(df / 2) - (df + 1) / 2 * log1p(t * t / df)) /
           sqrt(df * acos(-1));
}

/* Newton's steps, and halves of the bracket where one would leave it. */
double student_quantile(double tail, double df)
{
    double lo = 0, hi = 1, step = 1;
    while (student_tail(hi, df) > tail && hi < 1e300)
        hi *= 2;
    double t = (lo + hi) / 2;
    for (int i = 0; i < 200 && step > 1e-14 * t; i++) {
        double over = student_tail(t, df) - tail, next = t + over / density(t, df);
        *(over > 0 ? &lo : &hi) = t;
        if (!(next > lo && next < hi))
            next = (lo + hi) / 2;
        step = fabs(next - t);
        t = next;
    }
    return t;
}
