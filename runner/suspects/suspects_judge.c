/* SPDX-License-Identifier: Apache-2.0 */
#include "suspects/suspects_judge.h"

#include "base/stats.h"
#include "base/text.h"
#include "compare/contrast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- outliers ----
 *
 * Finds the values of a family that are slower than the others. Pure functions of log-times.
 *
 * A family is a test of entities that should be equal: the GEMM of every GPU of one model. It has
 * the values of each entity in several rows (launches; of one launch, blocks).
 *
 * The slowest value is compared with the mean of the others, in units of the others' spread; then
 * the second slowest with those that are left, and so on for up to half of the family. The last
 * step with a p below alpha decides how many are slow, so that two slow ones do not hide each other
 * (generalised extreme Studentised deviate; Rosner 1983, Technometrics 25, 165; here one-sided). p
 * is that of Student's t, times the number of values that are left and the number of steps.
 *
 * The spread of the others is that between healthy entities, with the noise of measuring them. Few
 * entities say little about it. So it is moderated (Smyth 2004, Stat. Appl. Genet. Mol. Biol. 3,
 * 3): its square is averaged with the square of a usual spread, which counts as OUTLIERS_PRIOR
 * degrees of freedom. The usual spread is that of the rows and half the floor; with two entities it
 * is the floor, with 3 to 7 entities 1.3 times the floor. A spread that is larger than usual is not
 * moderated.
 *
 * Only what exceeds the floor counts as slower: a smaller difference is of no use to anybody. And
 * the interval over the rows must exclude 0, so that one disturbed launch makes no suspect.
 */

#define OUTLIERS_FLOOR 0.01
#define OUTLIERS_PRIOR 4

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

/* NaN: the entity has no value. */
static double mean_of(const struct family *f, size_t entity)
{
    double sum = 0, n = 0;
    for (size_t row = 0; row < f->rows; row++) {
        double x = f->x[row * f->n + entity];
        sum += isfinite(x) ? x : 0;
        n += isfinite(x);
    }
    return sum / n;
}

/* The entities that have values, the slowest first. */
static struct value *sorted(const struct family *f, size_t *n)
{
    struct value *v = xcalloc(f->n + 1, sizeof *v);
    *n = 0;
    for (size_t i = 0; i < f->n; i++) {
        v[*n] = (struct value){mean_of(f, i), i};
        *n += isfinite(v[*n].mean);
    }
    qsort(v, *n, sizeof *v, slowest_first);
    return v;
}

/* The square of the standard error of a mean over the rows, from all entities together. */
static double noise(const struct family *f, double *df)
{
    double sum = 0;
    *df = 0;
    for (size_t i = 0; i < f->n; i++) {
        double mean = mean_of(f, i), n = 0;
        for (size_t row = 0; row < f->rows; row++) {
            double d = f->x[row * f->n + i] - mean;
            sum += isfinite(d) ? d * d : 0;
            n += isfinite(d);
        }
        *df += n > 0 ? n - 1 : 0;
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
    AUTO_FREE struct nested *x = xcalloc(f->rows, sizeof *x);
    AUTO_FREE double *scratch = xcalloc(f->n, sizeof *scratch);
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
}

/* tests: the number of p that share alpha. */
static double seen_excess(double error, double df, size_t tests, double alpha)
{
    double tail = alpha / (double)tests;
    return log_floor() + error * (student_quantile(tail, df) + student_quantile(POWER_TAIL, df));
}

void suspects_outliers(const struct family *f, double alpha, struct excess *out, double *seen)
{
    size_t n;
    AUTO_FREE struct value *v = sorted(f, &n);
    double df, usual = noise(f, &df) + square_of_health(n);
    AUTO_FREE bool *peer = xcalloc(f->n + 1, sizeof *peer);
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
}

/* The excess of each entity over its own past, whose rows are `past` (the same entities). */
static void suspects_outliers_since(const struct family *now, const struct family *past,
                                    double alpha, struct excess *out, double *seen)
{
    double df_now, df_past;
    double square = noise(now, &df_now) + noise(past, &df_past) + log_floor() * log_floor() / 2;
    double error = sqrt(square), df = df_now + df_past + OUTLIERS_PRIOR;
    double half = student_quantile(0.025, df) * error;
    size_t n = 0;
    for (size_t i = 0; i < now->n; i++) {
        double value = mean_of(now, i) - mean_of(past, i);
        out[i] = (struct excess){value, value - half, value + half, 1, false};
        n += isfinite(value);
    }
    *seen = n ? seen_excess(error, df, n, alpha) : NAN;
    for (size_t i = 0; i < now->n; i++)
        if (isfinite(out[i].value)) {
            out[i].p = student_tail((out[i].value - log_floor()) / error, df) * (double)n;
            out[i].slow = out[i].p < alpha;
        }
}

/* ---- suspects_pair_effects ----
 *
 * Splits the log-times of pairs into what the ranks and what the links contribute:
 * y(a,b) = level + rank(a) + rank(b) + link(a,b), by medians (Tukey's median polish).
 *
 * A rank contributes what most of its pairs share, so that one slow link does not make its two
 * ranks slow: of an even number of pairs, the lower median counts. What is left of a pair is its
 * link's.
 */

#define PASSES 20

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double lower_median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, ascending);
    return n ? x[(n - 1) / 2] : NAN;
}

static double at(const double *y, size_t n, size_t a, size_t b)
{
    return a < b ? y[a * n + b] : y[b * n + a];
}

/* Where to start: of three pairs, two are of one slow rank. */
static double fast_level(const double *y, size_t n, double *scratch)
{
    size_t k = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            if (isfinite(y[a * n + b]))
                scratch[k++] = y[a * n + b];
    qsort(scratch, k, sizeof *scratch, ascending);
    return k ? scratch[(k - 1) / 4] : NAN;
}

static double contribution(const double *y, size_t n, size_t a, double level, const double *rank,
                           double *scratch)
{
    size_t k = 0;
    for (size_t b = 0; b < n; b++)
        if (a != b && isfinite(at(y, n, a, b)))
            scratch[k++] = at(y, n, a, b) - level - rank[b];
    return lower_median(scratch, k);
}

static double centre(double *rank, size_t n, double *scratch)
{
    size_t k = 0;
    for (size_t a = 0; a < n; a++)
        if (isfinite(rank[a]))
            scratch[k++] = rank[a];
    double c = stats_quantile_of(scratch, k, 0.5);
    for (size_t a = 0; a < n; a++)
        rank[a] -= c;
    return c;
}

void suspects_pair_effects(const double *y, size_t n, double *rank, double *link)
{
    AUTO_FREE double *scratch = xcalloc(n * n + 1, sizeof *scratch);
    double level = fast_level(y, n, scratch);
    for (size_t a = 0; a < n; a++)
        rank[a] = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        for (size_t a = 0; a < n; a++) {
            double r = contribution(y, n, a, level, rank, scratch);
            rank[a] = isfinite(r) || pass == PASSES - 1 ? r : 0;
        }
        level += 2 * centre(rank, n, scratch);
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            link[a * n + b] = y[a * n + b] - level - rank[a] - rank[b];
}

/* ---- families ----
 *
 * The families of entities that are compared with each other, and their values.
 */

struct peers {
    enum suspect_kind kind;
    size_t test;
    size_t *at; /* entities: ranks, or pairs as a * ranks + b */
    double *x;  /* [row * n + entity] */
    size_t n, rows, fitted;
    /* The contribution of each rank to the times of its links, [row * ranks + rank]. Many links: it
     * is already subtracted from x, and this is NULL. Few links: take_slow_ranks() subtracts it for
     * the ranks that are slow in this test. */
    double *of_rank;
};

struct families {
    struct peers *v;
    size_t n;
};

#define LEFT_OVER 10 /* pairs more than ranks, which tell how much links differ */

static bool any_finite(const double *x, size_t rows, size_t n, size_t entity)
{
    for (size_t row = 0; row < rows; row++)
        if (isfinite(x[row * n + entity]))
            return true;
    return false;
}

/* The kinds of ranks or pairs: those of one kind are peers. */
struct kinds {
    struct words names;
    size_t *of; /* by entity; pairs: of a < b */
};

/* Of a rank its model. Of a pair the kind of its link, and the models that it joins. */
static void kinds_find(struct kinds *k, const struct suspects_data *d, bool pair)
{
    size_t n = d->ranks, width = pair ? n * n : n;
    *k = (struct kinds){.of = xcalloc(width, sizeof *k->of)};
    for (size_t i = 0; i < width; i++) {
        const struct rank_facts *x = &d->rank[i / n], *y = &d->rank[i % n];
        bool swap = strcmp(x->model, y->model) > 0;
        if (pair && i / n >= i % n)
            continue;
        AUTO_FREE char *name =
            !pair ? xstrdup(y->model)
                  : xstrfmt("%s\n%s\n%s", suspects_link(x, y), swap ? y->model : x->model,
                            swap ? x->model : y->model);
        k->of[i] = words_add_once(&k->names, name);
    }
}

static void kinds_free(struct kinds *k)
{
    words_free(&k->names);
    free(k->of);
}

/* Adds the ranks, hosts or links of one kind that have values in x, whose rows are `width` long. A single
 * one has no peers, and is not added. */
static void add_family(struct families *f, struct peers p, const double *x, size_t width,
                       const struct kinds *kinds, size_t kind)
{
    p.at = xcalloc(width, sizeof *p.at);
    for (size_t i = 0; i < width; i++)
        if (kinds->of[i] == kind && any_finite(x, p.rows, width, i))
            p.at[p.n++] = i;
    if (p.n < 2) {
        free(p.of_rank);
        free(p.at);
        return;
    }
    p.x = xcalloc(p.rows * p.n, sizeof *p.x);
    for (size_t row = 0; row < p.rows; row++)
        for (size_t i = 0; i < p.n; i++)
            p.x[row * p.n + i] = x[row * width + p.at[i]];
    APPEND(f->v, f->n) = p;
}

/* x: [row * ranks + rank] */
static void add_ranks(struct families *f, const struct suspects_data *d, size_t test,
                      const double *x, size_t rows)
{
    AUTO(kinds_free) struct kinds models;
    kinds_find(&models, d, false);
    for (size_t i = 0; i < models.names.n; i++)
        add_family(f, (struct peers){.kind = SUSPECT_RANK, .test = test, .rows = rows}, x, d->ranks,
                   &models, i);
}

/* Pairs that were measured, and ranks that are in one. */
static void count_pairs(const double *x, size_t rows, size_t n, size_t *pairs, size_t *ranks)
{
    AUTO_FREE bool *in = xcalloc(n, sizeof *in);
    *pairs = *ranks = 0;
    for (size_t i = 0; i < n * n; i++)
        if (any_finite(x, rows, n * n, i)) {
            in[i / n] = in[i % n] = true;
            ++*pairs;
        }
    for (size_t a = 0; a < n; a++)
        *ranks += in[a];
}

/* The pairs of each kind, as ranks and their links; all: [row * ranks * ranks + a * ranks + b] for
 * a < b. Fewer pairs than ranks do not tell one from the other; then a pair is all there is. */
static void add_pairs(struct families *f, const struct suspects_data *d, size_t test,
                      const double *all, size_t rows)
{
    size_t n = d->ranks, pairs, ranks;
    AUTO_FREE double *x = xcalloc(rows * n * n + 1, sizeof *x),
                     *link = xcalloc(rows * n * n + 1, sizeof *link);
    AUTO(kinds_free) struct kinds kinds;
    kinds_find(&kinds, d, true);
    for (size_t kind = 0; kind < kinds.names.n; kind++) {
        AUTO_FREE double *rank = xcalloc(rows * n + 1, sizeof *rank);
        for (size_t i = 0; i < rows * n * n; i++) {
            x[i] = kinds.of[i % (n * n)] == kind ? all[i] : NAN;
            link[i] = NAN;
        }
        count_pairs(x, rows, n, &pairs, &ranks);
        for (size_t row = 0; row < rows; row++)
            suspects_pair_effects(x + row * n * n, n, rank + row * n, link + row * n * n);
        bool split = pairs >= ranks, many = pairs >= ranks + LEFT_OVER;
        struct peers links = {
            .kind = SUSPECT_LINK, .test = test, .rows = rows, .fitted = many ? ranks - 1 : 0};
        if (split)
            add_ranks(f, d, test, rank, rows);
        if (split && !many) {
            links.of_rank = rank;
            rank = NULL;
        }
        add_family(f, links, many ? link : x, n * n, &kinds, kind);
    }
}

static void families_make(struct families *f, const struct suspects_data *d)
{
    *f = (struct families){0};
    for (size_t t = 0; t < SUSPECTS_TESTS; t++) {
        AUTO_FREE double *x = NULL;
        size_t rows = suspects_rows(d, t, true, &x);
        if (rows)
            (suspects_tests[t].pair ? add_pairs : add_ranks)(f, d, t, x, rows);
    }
}

static void families_free(struct families *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->v[i].at);
        free(f->v[i].x);
        free(f->v[i].of_rank);
    }
    free(f->v);
}

/* ---- suspects ---- */

static struct suspect *suspect_of(struct verdicts *v, enum suspect_kind kind, size_t a, size_t b)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->v[i].kind == kind && v->v[i].a == a && v->v[i].b == b)
            return &v->v[i];
    APPEND(v->v, v->n) = (struct suspect){.kind = kind, .a = a, .b = b};
    return &v->v[v->n - 1];
}

/* Adds a finding to the suspect of an entity: a rank, or a pair as a * ranks + b. */
static void verdicts_add(struct verdicts *v, size_t ranks, enum suspect_kind kind, size_t entity,
                         struct finding f)
{
    struct suspect *s =
        suspect_of(v, kind, kind == SUSPECT_LINK ? entity / ranks : entity, entity % ranks);
    size_t at = s->n;
    APPEND(s->findings, s->n) = f;
    for (; at && s->findings[at - 1].excess.value < f.excess.value; at--)
        s->findings[at] = s->findings[at - 1];
    s->findings[at] = f;
}

static void drop(struct verdicts *v, size_t i)
{
    free(v->v[i].findings);
    memmove(v->v + i, v->v + i + 1, (--v->n - i) * sizeof *v->v);
}

static int by_kind(const void *a, const void *b)
{
    const struct suspect *x = a, *y = b;
    return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1)
           : x->a != y->a     ? (x->a < y->a ? -1 : 1)
           : x->b < y->b      ? -1
                              : x->b > y->b;
}

static size_t ranks_on(const struct suspects_data *d, const char *host)
{
    size_t n = 0;
    for (size_t i = 0; i < d->ranks; i++)
        n += !strcmp(d->rank[i].host, host);
    return n;
}

/* Is it a rank of host h, or a link between h and k? */
static bool is_of(const struct suspects_data *d, const struct suspect *s, const char *h,
                  const char *k)
{
    const char *a = d->rank[s->a].host, *b = d->rank[s->b].host;
    return (!strcmp(a, h) && !strcmp(b, k)) || (!strcmp(a, k) && !strcmp(b, h));
}

/* Where every rank of a host is slow, or every link between two hosts, the first speaks for all. */
static void merge(struct verdicts *v, const struct suspects_data *d, enum suspect_kind kind)
{
    for (size_t i = 0; i < v->n; i++) {
        const char *h = d->rank[v->v[i].a].host, *k = d->rank[v->v[i].b].host;
        size_t here = ranks_on(d, h), slow = 0,
               all = kind == SUSPECT_LINK ? here * ranks_on(d, k) : here;
        bool apart = kind == SUSPECT_LINK ? strcmp(h, k) != 0 : here < d->ranks;
        for (size_t j = 0; j < v->n; j++)
            slow += v->v[j].kind == kind && is_of(d, &v->v[j], h, k);
        if (v->v[i].kind != kind || !apart || slow < 2 || slow < all)
            continue;
        for (size_t j = v->n; --j > i;)
            if (v->v[j].kind == kind && is_of(d, &v->v[j], h, k))
                drop(v, j);
        v->v[i].kind = kind == SUSPECT_LINK ? SUSPECT_ROUTE : SUSPECT_HOST;
    }
}

static void verdicts_finish(struct verdicts *v, const struct suspects_data *d)
{
    for (size_t a = 0; a < d->ranks; a++)
        for (size_t b = a + 1; b < d->ranks; b++)
            if (d->silent[a * d->ranks + b])
                suspect_of(v, SUSPECT_LINK, a, b)->silent = true;
    if (!v->n)
        return;
    qsort(v->v, v->n, sizeof *v->v, by_kind);
    merge(v, d, SUSPECT_RANK);
    merge(v, d, SUSPECT_LINK);
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

static bool is_slow_in(const struct verdicts *v, size_t rank, size_t test)
{
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; v->v[i].kind == SUSPECT_RANK && v->v[i].a == rank && k < v->v[i].n; k++)
            if (v->v[i].findings[k].test == test)
                return true;
    return false;
}

/* What slow ranks contribute to the times of their links. */
static void take_slow_ranks(const struct verdicts *v, struct peers *p, size_t ranks)
{
    for (size_t rank = 0; p->of_rank && rank < ranks; rank++) {
        if (!is_slow_in(v, rank, p->test))
            continue;
        p->fitted++;
        for (size_t i = 0; i < p->n; i++)
            for (size_t row = 0;
                 row < p->rows && (p->at[i] / ranks == rank || p->at[i] % ranks == rank); row++)
                p->x[row * p->n + i] -= p->of_rank[row * ranks + rank];
    }
}

static void judge_family(struct verdicts *out, struct peers *p, size_t ranks, double alpha)
{
    take_slow_ranks(out, p, ranks);
    const struct family family = {p->n, p->rows, p->x, p->fitted};
    AUTO_FREE struct excess *excess = xcalloc(p->n, sizeof *excess);
    double seen;
    suspects_outliers(&family, alpha, excess, &seen);
    note_seen(out, p->kind, p->test, seen);
    for (size_t i = 0; i < p->n; i++)
        if (excess[i].slow)
            verdicts_add(out, ranks, p->kind, p->at[i], (struct finding){p->test, excess[i]});
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
    return suspects_same_host(a, b) && (uuids ? !strcmp(a->uuid, b->uuid) : a->index == b->index);
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
    suspects_outliers_since(&is, &was, SUSPECTS_ALPHA / SUSPECTS_TESTS, excess, &seen);
    note_seen(out, kind, test, seen);
    for (size_t i = 0; i < width; i++)
        if (excess[i].slow)
            verdicts_add(out, d->ranks, kind, i, (struct finding){test, excess[i]});
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

void suspects_verdicts_free(struct verdicts *v)
{
    for (size_t i = 0; i < v->n; i++)
        free(v->v[i].findings);
    free(v->v);
    *v = (struct verdicts){0};
}
