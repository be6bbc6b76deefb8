/* SPDX-License-Identifier: Apache-2.0 */
#include "suspects/outliers.h"

#include "base/stats.h"
#include "base/student.h"
#include "base/text.h"
#include "compare/contrast.h"

#include <math.h>
#include <stdlib.h>

#define POWER_TAIL 0.1 /* of *seen */
#define DRAWS 2000

struct value {
    double mean;
    size_t entity;
};

static int slowest_first(const void *a, const void *b)
{
    double x = ((const struct value *)a)->mean, y = ((const struct value *)b)->mean;
    return x > y ? -1 : x < y;
}

static bool has(const struct family *f, size_t entity)
{
    for (size_t row = 0; row < f->rows; row++)
        if (isfinite(f->x[row * f->n + entity]))
            return true;
    return false;
}

static double mean_of(const struct family *f, size_t entity)
{
    double sum = 0;
    size_t n = 0;
    for (size_t row = 0; row < f->rows; row++) {
        double x = f->x[row * f->n + entity];
        if (isfinite(x)) {
            sum += x;
            n++;
        }
    }
    return sum / (double)n;
}

/* The entities that have values, the slowest first. */
static struct value *sorted(const struct family *f, size_t *n)
{
    struct value *v = xcalloc(f->n + 1, sizeof *v);
    *n = 0;
    for (size_t i = 0; i < f->n; i++)
        if (has(f, i))
            v[(*n)++] = (struct value){mean_of(f, i), i};
    qsort(v, *n, sizeof *v, slowest_first);
    return v;
}

/* The square of the standard error of a mean over the rows, from all entities together. */
static double noise(const struct family *f, double *df)
{
    double sum = 0;
    *df = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (!has(f, i))
            continue;
        double mean = mean_of(f, i);
        size_t n = 0;
        for (size_t row = 0; row < f->rows; row++) {
            double d = f->x[row * f->n + i] - mean;
            sum += isfinite(d) ? d * d : 0;
            n += isfinite(d);
        }
        *df += (double)n - 1;
    }
    return *df > 0 ? sum / *df / (double)f->rows : 0;
}

/* The others of one step. */
struct others {
    double mean, error; /* error: of the difference between one more value and the mean */
    double df;
};

/* The 90% quantile of chi-square (Wilson and Hilferty 1931). */
static double chi_square_90(double df)
{
    double c = 2 / (9 * df), root = 1 - c + 1.2816 * sqrt(c);
    return df > 0 ? df * root * root * root : 0;
}

static struct others others_of(const struct value *v, size_t n, size_t fitted, double usual)
{
    double sum = 0, squares = 0, df = (double)n - 1 - (double)fitted;
    for (size_t i = 0; i < n; i++)
        sum += v[i].mean;
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (v[i].mean - mean) * (v[i].mean - mean);
    if (df <= 0)
        df = squares = 0;
    double prior = squares > usual * chi_square_90(df) ? 0 : OUTLIERS_PRIOR;
    double square = (prior * usual + squares) / (prior + df);
    return (struct others){mean, sqrt(square * (1 + 1 / (double)n)), prior + df};
}

static double log_floor(void)
{
    return log1p(OUTLIERS_FLOOR);
}

/* The square of a usual spread of healthy entities: where few say little about theirs, large enough
 * for those that differ by 2%. tests/sim/suspect_rates.c holds it to that. */
static double square_of_health(size_t n)
{
    return log_floor() * log_floor() * (n < 3 ? 1 : n < 8 ? 1.7 : 0.25);
}

static size_t steps_of(size_t n)
{
    return n > 3 ? (n - 1) / 2 : 1;
}

static size_t count_slow(const struct family *f, const struct value *v, size_t n, double alpha,
                         double usual, struct excess *out)
{
    size_t steps = steps_of(n), slow = 0;
    for (size_t i = 0; i < steps && i + 1 < n; i++) {
        struct others o = others_of(v + i + 1, n - i - 1, f->fitted, usual);
        double t = (v[i].mean - o.mean - log_floor()) / o.error;
        double p = student_tail(t, o.df) * (double)((n - i) * steps);
        out[v[i].entity].p = p < 1 ? p : 1;
        if (p < alpha)
            slow = i + 1;
    }
    return slow;
}

static double difference(const struct family *f, size_t row, size_t entity, const bool *peer,
                         double *scratch)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        if (peer[i] && i != entity && isfinite(f->x[row * f->n + i]))
            scratch[n++] = f->x[row * f->n + i];
    return f->x[row * f->n + entity] - stats_quantile_of(scratch, n, 0.5);
}

/* The excess of a slow entity over the median of those that are not, row by row. */
static void interval(const struct family *f, size_t entity, const bool *peer, struct excess *e)
{
    struct nested *x = xcalloc(f->rows, sizeof *x);
    double *scratch = xcalloc(f->n, sizeof *scratch);
    struct rng rng;
    size_t n = 0;
    rng_seed(&rng, entity + 1);
    for (size_t row = 0; row < f->rows; row++) {
        double d = difference(f, row, entity, peer, scratch);
        if (isfinite(d))
            x[n++] = (struct nested){.launch = (int)row, .value = d};
    }
    struct effect effect = effect_paired(x, n, DRAWS, &rng);
    *e = (struct excess){.value = n ? stats_launch_mean(x, n) : NAN,
                         .lo = effect.lo,
                         .hi = effect.hi,
                         .p = e->p,
                         .slow = !(effect.lo <= 0)};
    free(scratch);
    free(x);
}

/* tests: the number of p that share alpha. */
static double seen_excess(double error, double df, size_t tests, double alpha)
{
    double tail = alpha / (double)tests;
    return log_floor() + error * (student_quantile(tail, df) + student_quantile(POWER_TAIL, df));
}

void outliers_find(const struct family *f, double alpha, struct excess *out, double *seen)
{
    size_t n;
    struct value *v = sorted(f, &n);
    double df, usual = noise(f, &df) + square_of_health(n);
    bool *peer = xcalloc(f->n + 1, sizeof *peer);
    for (size_t i = 0; i < f->n; i++)
        out[i] = (struct excess){NAN, NAN, NAN, 1, false};
    size_t slow = count_slow(f, v, n, alpha, usual, out);
    for (size_t i = slow; i < n; i++)
        peer[v[i].entity] = true;
    for (size_t i = 0; i < slow; i++)
        interval(f, v[i].entity, peer, &out[v[i].entity]);
    *seen = NAN;
    if (n > 1) {
        size_t one = n - slow == 2; /* of two, one is the other's only peer */
        struct others o = others_of(v + slow + one, n - slow - one, f->fitted, usual);
        *seen = seen_excess(o.error, o.df, n * steps_of(n), alpha);
    }
    free(peer);
    free(v);
}

void outliers_since(const struct family *now, const struct family *past, double alpha,
                    struct excess *out, double *seen)
{
    double df_now, df_past;
    double square = noise(now, &df_now) + noise(past, &df_past) + log_floor() * log_floor() / 2;
    double error = sqrt(square), df = df_now + df_past + OUTLIERS_PRIOR;
    size_t n = 0;
    for (size_t i = 0; i < now->n; i++)
        n += has(now, i) && has(past, i);
    *seen = n ? seen_excess(error, df, n, alpha) : NAN;
    for (size_t i = 0; i < now->n; i++) {
        out[i] = (struct excess){NAN, NAN, NAN, 1, false};
        if (!has(now, i) || !has(past, i))
            continue;
        struct excess *e = &out[i];
        double half = student_quantile(0.025, df) * error;
        e->value = mean_of(now, i) - mean_of(past, i);
        e->lo = e->value - half;
        e->hi = e->value + half;
        e->p = student_tail((e->value - log_floor()) / error, df) * (double)n;
        e->slow = e->p < alpha;
    }
}
