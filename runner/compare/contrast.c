/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/contrast.h"

#include "base/stats.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- contrast ---- */

#define EXACT_LAUNCHES 14 /* up to here all 2^L signs are tried */
#define Z 1.959963984540054

/* ---- launches ---- */

struct launches {
    double *mean; /* [launch] of all blocks */
    double *batch;
    size_t *first; /* [launch] index of its first batch; first[n] is the end */
    size_t n, blocks;
};

static void add_launch(struct launches *l, const struct nested *x, size_t blocks)
{
    size_t batches = blocks < CONTRAST_BATCHES ? blocks : CONTRAST_BATCHES;
    size_t at = l->first[l->n];
    double total = 0;
    for (size_t b = 0; b < batches; b++) {
        size_t lo = b * blocks / batches, hi = (b + 1) * blocks / batches;
        double sum = 0;
        for (size_t i = lo; i < hi; i++)
            sum += x[i].value;
        l->batch[at++] = sum / (double)(hi - lo);
        total += sum;
    }
    l->mean[l->n++] = total / (double)blocks;
    l->first[l->n] = at;
}

static void launches_make(struct launches *l, const struct nested *x, size_t n)
{
    *l = (struct launches){.blocks = n};
    l->mean = xmalloc((n + 1) * sizeof *l->mean);
    l->batch = xmalloc((n + 1) * sizeof *l->batch);
    l->first = xcalloc(n + 1, sizeof *l->first);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && x[end].launch == x[i].launch; end++)
            ;
        add_launch(l, x + i, end - i);
    }
}

static void launches_free(struct launches *l)
{
    free(l->mean);
    free(l->batch);
    free(l->first);
}

static double variance(const double *x, size_t n)
{
    double mean = stats_mean(x, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum / (double)(n - 1);
}

/* ---- the bootstrap ---- */

/* Each 64-bit number of the generator yields two indices, by multiplication, its lower half first. The bias,
 * below n / 2^32, is far under what 10,000 draws resolve. */
struct halves {
    struct rng rng;
    uint64_t bits; /* the latest number of the generator */
    bool left;     /* its upper half is not used yet */
};

static size_t index_below(size_t n, uint64_t half)
{
    return (size_t)((half * n) >> 32);
}

static size_t next_below(size_t n, struct halves *h)
{
    h->left = !h->left;
    h->bits = h->left ? rng_next(&h->rng) : h->bits >> 32;
    return index_below(n, h->bits & UINT32_MAX);
}

static double draw(const struct launches *l, struct halves *h)
{
    double sum = 0;
    struct halves here = *h; /* in registers: most of the time of a comparison is spent here */
    for (size_t i = 0; i < l->n; i++) {
        size_t k = next_below(l->n, &here), n = l->first[k + 1] - l->first[k], b = here.left;
        const double *batch = l->batch + l->first[k];
        double launch = b ? batch[next_below(n, &here)] : 0;
        for (; b + 1 < n; b += 2) {
            uint64_t bits = rng_next(&here.rng);
            launch += batch[index_below(n, bits & UINT32_MAX)];
            launch += batch[index_below(n, bits >> 32)];
        }
        if (b < n)
            launch += batch[next_below(n, &here)];
        sum += launch / (double)n;
    }
    *h = here;
    return sum / (double)l->n;
}

/* Draws of the mean of b minus that of a; a NULL: of b alone. */
static double *draw_all(const struct launches *a, const struct launches *b, size_t draws,
                        struct rng *rng)
{
    double *v = xmalloc(draws * sizeof *v);
    struct halves h = {.rng = *rng};
    for (size_t i = 0; i < draws; i++) {
        v[i] = draw(b, &h);
        v[i] -= a ? draw(a, &h) : 0;
    }
    *rng = h.rng;
    return v;
}

static void set_interval(struct effect *e, double *drawn, size_t draws)
{
    const double tail = (1 - CONTRAST_LEVEL) / 2;
    double spread = sqrt(variance(drawn, draws)), t = student_quantile(tail, e->df);
    double scale = spread > 0 ? e->se / spread * t / Z : 0;
    e->lo = e->value + (stats_quantile_of(drawn, draws, tail) - e->value) * scale;
    e->hi = e->value + (stats_quantile_of(drawn, draws, 1 - tail) - e->value) * scale;
    double side = fmax(e->value > 0 ? e->value - e->lo : e->hi - e->value, t * e->se);
    e->p_interval = side > 0 ? 2 * student_tail(fabs(e->value) * t / side, e->df) : e->value == 0;
}

/* ---- permutations ---- */

/* At least as far from 0 as the observed sum, up to rounding? */
static bool as_far(double sum, double seen)
{
    return fabs(sum) >= fabs(seen) * (1 - 1e-12);
}

static double flip_p(const double *mean, size_t n, size_t draws, struct rng *rng)
{
    double seen = stats_mean(mean, n) * (double)n;
    bool exact = n <= EXACT_LAUNCHES;
    uint64_t ways = exact ? UINT64_C(1) << n : draws, far = 0;
    for (uint64_t w = 0; w < ways; w++) {
        double sum = 0;
        uint64_t signs = w;
        for (size_t i = 0; i < n; i++) {
            if (!exact && i % 64 == 0)
                signs = rng_next(rng);
            sum += signs >> i % 64 & 1 ? -mean[i] : mean[i];
        }
        far += as_far(sum, seen);
    }
    return exact ? (double)far / (double)ways : (double)(far + 1) / (double)(ways + 1);
}

/* Shuffles the pooled launches and compares the difference of means. */
static double deal_p(const struct launches *a, const struct launches *b, size_t draws,
                     struct rng *rng)
{
    size_t n = a->n + b->n, far = 0;
    double seen = stats_mean(b->mean, b->n) - stats_mean(a->mean, a->n);
    AUTO_FREE double *mean = xmalloc(n * sizeof *mean);
    AUTO_FREE size_t *order = xmalloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) {
        mean[i] = i < a->n ? a->mean[i] : b->mean[i - a->n];
        order[i] = i;
    }
    for (size_t d = 0; d < draws; d++) {
        double side[2] = {0, 0};
        rng_shuffle(rng, order, n);
        for (size_t i = 0; i < n; i++)
            side[i >= a->n] += mean[order[i]];
        far += as_far(side[1] / (double)b->n - side[0] / (double)a->n, seen);
    }
    return (double)(far + 1) / (double)(draws + 1);
}

/* ---- effects ---- */

static const struct effect nothing = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0, 0};

struct effect effect_paired(const struct nested *x, size_t n, size_t draws, struct rng *rng)
{
    struct effect e = nothing;
    struct launches l;
    if (n == 0)
        return e;
    launches_make(&l, x, n);
    e.launches = (int)l.n;
    e.blocks = n;
    if (l.n > 1) {
        e.value = stats_mean(l.mean, l.n);
        e.se = sqrt(variance(l.mean, l.n) / (double)l.n);
        e.df = (double)l.n - 1;
        AUTO_FREE double *drawn = draw_all(NULL, &l, draws, rng);
        set_interval(&e, drawn, draws);
        e.p_permutation = flip_p(l.mean, l.n, draws, rng);
        e.p_least = l.n <= EXACT_LAUNCHES ? ldexp(2, -(int)l.n) : 1 / (double)(draws + 1);
    }
    launches_free(&l);
    return e;
}

static void effect_between(struct effect *e, const struct launches *a, const struct launches *b,
                           size_t draws, struct rng *rng)
{
    double va = variance(a->mean, a->n) / (double)a->n, vb = variance(b->mean, b->n) / (double)b->n;
    double k = (double)a->n, m = (double)b->n, resolved = 1 / (double)(draws + 1);
    /* 1 / C(k + m, k); twice that if both sides have the same size */
    double least =
        (a->n == b->n ? 2 : 1) * exp(-(lgamma(k + m + 1) - lgamma(k + 1) - lgamma(m + 1)));
    e->value = stats_mean(b->mean, b->n) - stats_mean(a->mean, a->n);
    e->se = sqrt(va + vb);
    /* Welch and Satterthwaite; undefined if neither side has any spread. */
    e->df = e->se > 0 ? (va + vb) * (va + vb) /
                            (va * va / (double)(a->n - 1) + vb * vb / (double)(b->n - 1))
                      : 1;
    AUTO_FREE double *drawn = draw_all(a, b, draws, rng);
    set_interval(e, drawn, draws);
    e->p_permutation = deal_p(a, b, draws, rng);
    e->p_least = least > resolved ? least : resolved;
}

struct effect effect_unpaired(const struct nested *a, size_t n_a, const struct nested *b,
                              size_t n_b, size_t draws, struct rng *rng)
{
    struct effect e = nothing;
    struct launches la, lb;
    if (n_a == 0 || n_b == 0)
        return e;
    launches_make(&la, a, n_a);
    launches_make(&lb, b, n_b);
    e.launches = (int)(la.n < lb.n ? la.n : lb.n);
    e.blocks = n_a + n_b;
    if (e.launches > 1)
        effect_between(&e, &la, &lb, draws, rng);
    launches_free(&la);
    launches_free(&lb);
    return e;
}

struct interval contrast_percentile(const struct nested *x, size_t n, size_t draws, bool expanded,
                                    struct rng *rng)
{
    struct launches l;
    double tail = (1 - CONTRAST_LEVEL) / 2;
    launches_make(&l, x, n);
    if (expanded) {
        double L = (double)l.n, z = sqrt(L / (L - 1)) * student_quantile(tail, L - 1);
        tail = 0.5 * erfc(z / sqrt(2));
    }
    AUTO_FREE double *drawn = draw_all(NULL, &l, draws, rng);
    struct interval ci = {.lo = stats_quantile_of(drawn, draws, tail), .coverage = CONTRAST_LEVEL};
    ci.hi = stats_quantile_of(drawn, draws, 1 - tail);
    launches_free(&l);
    return ci;
}

/* ---- judgement ---- */

#define POWER_TAIL 0.2

const char *const verdict_names[VERDICTS] = {"faster", "slower", "equivalent", "inconclusive",
                                             "same operation"};

bool verdict_is_difference(enum verdict v)
{
    return v == VERDICT_FASTER || v == VERDICT_SLOWER;
}

bool judgement_permutes(const struct effect *e, size_t n)
{
    return e->p_least * (double)n <= JUDGEMENT_ALPHA;
}

double judgement_p(const struct effect *e, size_t n)
{
    return judgement_permutes(e, n) ? fmax(e->p_interval, e->p_permutation) : e->p_interval;
}

void contrast_holm(double *p, size_t n)
{
    AUTO_FREE size_t *order = xmalloc((n + 1) * sizeof *order);
    size_t m = 0;
    for (size_t i = 0; i < n; i++) { /* families are small: by insertion */
        if (isnan(p[i]))
            continue;
        size_t k = m++;
        for (; k > 0 && p[order[k - 1]] > p[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    double most = 0;
    for (size_t k = 0; k < m; k++) {
        double adjusted = p[order[k]] * (double)(m - k);
        most = adjusted > most ? adjusted : most;
        p[order[k]] = most < 1 ? most : 1;
    }
}

/* Would n launches have a half-width below `room` with 80% power? The standard error gives the spread
 * of a launch; the degrees of freedom grow with the launches. */
static bool suffice(const struct effect *e, int n, double room)
{
    double spread = e->se * sqrt(e->launches), df = (e->df + 1) / e->launches * n - 1;
    double reach =
        student_quantile((1 - CONTRAST_LEVEL) / 2, df) + student_quantile(POWER_TAIL, df);
    return reach * spread / sqrt(n) < room;
}

/* The number of further launches; -1: too many. The half-width falls with the number of launches, so
 * bisection finds the smallest number. */
static int64_t launches_needed(const struct effect *e, double room)
{
    int lo = e->launches, hi = JUDGEMENT_MOST_LAUNCHES;
    if (!(room > 0) || lo >= hi || !suffice(e, hi, room))
        return -1;
    while (hi - lo > 1) {
        int middle = lo + (hi - lo) / 2;
        if (suffice(e, middle, room))
            hi = middle;
        else
            lo = middle;
    }
    return hi - e->launches;
}

static struct judgement inconclusive(const char *why)
{
    struct judgement j = {.verdict = VERDICT_INCONCLUSIVE, .needed = -1};
    snprintf(j.reason, sizeof j.reason, "%s", why);
    return j;
}

static void explain(struct judgement *j, const struct effect *e, double bound, double floor)
{
    double size = fabs(e->value), room = size > bound ? size - floor : bound - size;
    double alone = fmax(e->p_interval, e->p_tested);
    bool spans = e->lo <= floor && e->hi >= -floor;
    j->needed = launches_needed(e, room);
    if (size > bound && size > floor && !spans && alone >= JUDGEMENT_ALPHA)
        snprintf(j->reason, sizeof j->reason, "p %.2g alone: not significant", alone);
    else
        snprintf(j->reason, sizeof j->reason, "%s",
                 size > bound && size <= floor ? "not above the A/A floor"
                 : size > bound && spans       ? "the interval reaches into the A/A floor"
                 : size > bound                ? "significant alone, but not after adjustment"
                                : "the interval reaches beyond the bounds of equivalence");
}

const char *judgement_span(char *buf, size_t n, double low, double high)
{
    int digits = low > 0 && low < 0.00095 ? 2 : 1;
    snprintf(buf, n, "%.*f to %.*f%%", digits, 100 * low, digits, 100 * high);
    return buf;
}

/* By the floor and the p of a difference, without its least size. */
static void tell_small(struct judgement *j, const struct effect *e, double equivalence,
                       double floor, double p_holm)
{
    char span[64];
    j->small = p_holm >= JUDGEMENT_ALPHA ? 0 : e->hi < -floor ? -1 : e->lo > floor ? 1 : 0;
    if (j->small < 0)
        judgement_span(span, sizeof span, -expm1(e->hi), -expm1(e->lo));
    else if (j->small > 0)
        judgement_span(span, sizeof span, expm1(e->lo), expm1(e->hi));
    if (j->small)
        snprintf(j->reason, sizeof j->reason, "%s by %s, below the %.3g%% that you ask for",
                 j->small < 0 ? "shorter" : "longer", span, 100 * equivalence);
}

struct judgement judge_effect(const struct effect *e, double equivalence, double floor,
                              double p_holm)
{
    struct judgement j = {.verdict = VERDICT_INCONCLUSIVE};
    double bound = log1p(equivalence);
    if (e->launches == 0)
        return inconclusive("not measured together");
    if (e->launches == 1) {
        j = inconclusive("one launch says nothing about the next: 2 or more are needed, 5 are "
                         "advised");
        j.needed = 4;
        return j;
    }
    if (isnan(floor))
        return inconclusive("no verdict without an A/A floor");
    if (e->lo > -bound && e->hi < bound)
        j.verdict = VERDICT_EQUIVALENT;
    else if (e->hi < -floor && e->value < -bound && p_holm < JUDGEMENT_ALPHA)
        j.verdict = VERDICT_FASTER;
    else if (e->lo > floor && e->value > bound && p_holm < JUDGEMENT_ALPHA)
        j.verdict = VERDICT_SLOWER;
    else
        explain(&j, e, bound, floor);
    if (j.verdict == VERDICT_EQUIVALENT)
        tell_small(&j, e, equivalence, floor, p_holm);
    return j;
}
