/* SPDX-License-Identifier: Apache-2.0 */
#include "suspects/judge.h"

#include "base/stats.h"
#include "base/text.h"
#include "suspects/families.h"
#include "suspects/rank_facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- suspects ---- */

static struct suspect *suspect_of(struct verdicts *v, enum suspect_kind kind, size_t a, size_t b)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->v[i].kind == kind && v->v[i].a == a && v->v[i].b == b)
            return &v->v[i];
    APPEND(v->v, v->n) = (struct suspect){.kind = kind, .a = a, .b = b};
    return &v->v[v->n - 1];
}

void verdicts_add(struct verdicts *v, enum suspect_kind kind, size_t a, size_t b,
                  const struct finding *f)
{
    struct suspect *s = suspect_of(v, kind, a, b);
    size_t at = s->n;
    APPEND(s->findings, s->n) = *f;
    for (; at && s->findings[at - 1].excess.value < f->excess.value; at--)
        s->findings[at] = s->findings[at - 1];
    s->findings[at] = *f;
}

static void drop(struct verdicts *v, size_t i)
{
    free(v->v[i].findings);
    memmove(v->v + i, v->v + i + 1, (--v->n - i) * sizeof *v->v);
}

static bool is_slow(const struct verdicts *v, size_t rank)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->v[i].kind == SUSPECT_RANK && v->v[i].a == rank)
            return true;
    return false;
}

static bool is_slow_host(const struct verdicts *v, const struct suspects_data *d, size_t host)
{
    size_t ranks = 0, slow = 0;
    for (size_t i = 0; i < d->ranks; i++)
        if (families_host(d, i) == host) {
            ranks++;
            slow += is_slow(v, i);
        }
    return ranks >= 2 && ranks < d->ranks && slow == ranks;
}

/* The first rank of a host speaks for all. */
static void merge_hosts(struct verdicts *v, const struct suspects_data *d)
{
    for (size_t host = 0; host < d->ranks; host++) {
        if (families_host(d, host) != host || !is_slow_host(v, d, host))
            continue;
        for (size_t i = v->n; i-- > 0;) {
            if (v->v[i].kind != SUSPECT_RANK || families_host(d, v->v[i].a) != host)
                continue;
            if (v->v[i].a == host)
                v->v[i].kind = SUSPECT_HOST;
            else
                drop(v, i);
        }
    }
}

/* Median log time of a pair; NaN: not measured. */
static double pair_time(const struct suspects_data *d, size_t test, size_t at)
{
    size_t n = d->ranks * d->ranks, k = 0;
    AUTO_FREE double *x = xcalloc(d->visits + 1, sizeof *x);
    for (size_t v = 0; v < d->visits; v++)
        if (isfinite(d->x[test][v * n + at]))
            x[k++] = d->x[test][v * n + at];
    return k ? stats_median(x, k) : NAN;
}

/* The log of how much longer a pair takes than the median of the others; NaN: unknown. */
static double pair_excess(const struct suspects_data *d, size_t test, size_t at)
{
    size_t n = d->ranks * d->ranks, k = 0;
    AUTO_FREE double *x = xcalloc(n + 1, sizeof *x);
    for (size_t other = 0; other < n; other++) {
        double t = other == at ? NAN : pair_time(d, test, other);
        if (isfinite(t))
            x[k++] = t;
    }
    return k ? pair_time(d, test, at) - stats_median(x, k) : NAN;
}

/* Alone it takes less than half of the excess that it has while others run, in every test. Too few
 * links run alone to judge them as outliers. */
static bool is_shared(const struct suspects_data *d, const struct suspect *s)
{
    size_t at = s->a * d->ranks + s->b;
    bool measured = false;
    for (size_t alone = 0; alone < SUSPECTS_TESTS; alone++) {
        for (size_t t = 0; suspects_tests[alone].alone && t < alone; t++) {
            if (strcmp(suspects_tests[t].metric, suspects_tests[alone].metric))
                continue;
            double excess = pair_excess(d, alone, at);
            if (excess > pair_excess(d, t, at) / 2)
                return false;
            measured = measured || isfinite(excess);
        }
    }
    return measured;
}

static int by_kind(const void *a, const void *b)
{
    const struct suspect *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

void verdicts_finish(struct verdicts *v, const struct suspects_data *d)
{
    for (size_t a = 0; a < d->ranks; a++)
        for (size_t b = a + 1; b < d->ranks; b++)
            if (d->silent[a * d->ranks + b])
                suspect_of(v, SUSPECT_LINK, a, b)->silent = true;
    for (size_t i = 0; i < v->n; i++)
        v->v[i].shared = v->v[i].kind == SUSPECT_LINK && is_shared(d, &v->v[i]);
    merge_hosts(v, d);
    if (v->n)
        qsort(v->v, v->n, sizeof *v->v, by_kind);
}

/* ---- the judgement ---- */

static void note_seen(struct verdicts *out, enum suspect_kind kind, size_t test, double seen)
{
    double relative = expm1(seen), *to = &out->seen[kind][test];
    out->compared = out->compared || isfinite(seen);
    if (isfinite(relative) && !(*to > relative))
        *to = relative;
}

static bool is_slow_in(const struct verdicts *v, enum suspect_kind kind, size_t rank, size_t test)
{
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; v->v[i].kind == kind && v->v[i].a == rank && k < v->v[i].n; k++)
            if (v->v[i].findings[k].test == test)
                return true;
    return false;
}

/* What slow ranks contribute to the times of their links. */
static void take_slow_ranks(const struct verdicts *v, struct peers *p, size_t ranks)
{
    for (size_t rank = 0; p->of_rank && rank < ranks; rank++) {
        if (!is_slow_in(v, p->rank_kind, rank, p->test))
            continue;
        p->fitted++;
        for (size_t i = 0; i < p->n; i++)
            for (size_t row = 0; row < p->rows && (p->a[i] == rank || p->b[i] == rank); row++)
                p->x[row * p->n + i] -= p->of_rank[row * ranks + rank];
    }
}

static void judge_family(struct verdicts *out, struct peers *p, size_t ranks, double alpha)
{
    take_slow_ranks(out, p, ranks);
    const struct family family = {p->n, p->rows, p->x, p->fitted};
    AUTO_FREE struct excess *excess = xcalloc(p->n, sizeof *excess);
    double seen;
    outliers_find(&family, alpha, excess, &seen);
    note_seen(out, p->kind, p->test, seen);
    for (size_t i = 0; i < p->n; i++)
        if (excess[i].slow)
            verdicts_add(out, p->kind, p->a[i], p->b[i], &(struct finding){p->test, excess[i]});
}

static void begin(struct verdicts *out, const struct suspects_data *d)
{
    *out = (struct verdicts){0};
    for (size_t k = 0; k < SUSPECT_KINDS; k++)
        for (size_t t = 0; t < SUSPECTS_TESTS; t++)
            out->seen[k][t] = NAN;
    size_t n = d->ranks * d->ranks;
    for (size_t i = 0; i < n; i++) {
        bool measured = d->silent[i];
        for (size_t t = 0; t < SUSPECTS_TESTS; t++)
            for (size_t v = 0; suspects_tests[t].pair && v < d->visits; v++)
                measured = measured || isfinite(d->x[t][v * n + i]);
        out->links += measured;
    }
}

void suspects_judge(struct verdicts *out, const struct suspects_data *d)
{
    struct families f;
    begin(out, d);
    families_make(&f, d);
    for (size_t i = 0; i < f.n; i++)
        judge_family(out, &f.v[i], d->ranks, SUSPECTS_ALPHA / (double)f.n);
    families_free(&f);
    verdicts_finish(out, d);
}

/* ---- against the past ---- */

static bool same_device(const struct rank_facts *a, const struct rank_facts *b)
{
    bool uuids = *a->uuid && *b->uuid;
    return rank_facts_same_host(a, b) && (uuids ? !strcmp(a->uuid, b->uuid) : a->index == b->index);
}

/* The rank of the past with this device; past->ranks: none. */
static size_t find(const struct suspects_data *past, const struct rank_facts *now)
{
    size_t i = 0;
    while (i < past->ranks && !same_device(&past->rank[i], now))
        i++;
    return i;
}

/* The values of the past in the places of now; NaN: none. */
static double *in_places(const struct suspects_data *d, const struct suspects_data *past, bool pair,
                         const double *x, size_t rows)
{
    size_t n = d->ranks, m = past->ranks, width = pair ? n * n : n;
    double *out = xcalloc(rows * width + 1, sizeof *out);
    for (size_t i = 0; i < width; i++) {
        size_t a = find(past, &d->rank[pair ? i / n : i]), b = find(past, &d->rank[i % n]);
        size_t at = !pair ? a : a < b ? a * m + b : b * m + a;
        for (size_t row = 0; row < rows; row++)
            out[row * width + i] = a < m && b < m ? x[row * (pair ? m * m : m) + at] : NAN;
    }
    return out;
}

static void judge_test_since(struct verdicts *out, const struct suspects_data *d,
                             const struct suspects_data *past, size_t test)
{
    bool pair = suspects_tests[test].pair;
    size_t width = suspects_entities(d, test);
    AUTO_FREE double *now = NULL, *then = NULL;
    size_t rows = suspects_rows(d, test, false, &now),
           before = suspects_rows(past, test, false, &then);
    AUTO_FREE double *placed = in_places(d, past, pair, then, before);
    double seen;
    AUTO_FREE struct excess *excess = xcalloc(width, sizeof *excess);
    const struct family is = {width, rows, now, 0}, was = {width, before, placed, 0};
    enum suspect_kind kind = pair ? SUSPECT_LINK : SUSPECT_RANK;
    outliers_since(&is, &was, SUSPECTS_ALPHA / SUSPECTS_TESTS, excess, &seen);
    note_seen(out, kind, test, seen);
    for (size_t i = 0; i < width; i++)
        if (excess[i].slow)
            verdicts_add(out, kind, pair ? i / d->ranks : i, i % d->ranks,
                         &(struct finding){test, excess[i]});
}

/* Is a rank of this link slower than in the past, by at least half of what the link is? */
static bool is_of_slow_rank(const struct verdicts *v, const struct suspect *link)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->v[i].kind == SUSPECT_RANK && (v->v[i].a == link->a || v->v[i].a == link->b) &&
            2 * v->v[i].findings[0].excess.value >= link->findings[0].excess.value)
            return true;
    return false;
}

void suspects_judge_since(struct verdicts *out, const struct suspects_data *d,
                          const struct suspects_data *past)
{
    begin(out, d);
    for (size_t t = 0; t < SUSPECTS_TESTS; t++)
        judge_test_since(out, d, past, t);
    for (size_t i = out->n; i-- > 0;)
        if (out->v[i].kind == SUSPECT_LINK && is_of_slow_rank(out, &out->v[i]))
            drop(out, i);
    verdicts_finish(out, d);
}

void verdicts_free(struct verdicts *v)
{
    for (size_t i = 0; i < v->n; i++)
        free(v->v[i].findings);
    free(v->v);
    *v = (struct verdicts){0};
}
