/* SPDX-License-Identifier: Apache-2.0 */
#include "suspects/families.h"

#include "base/stats.h"
#include "base/text.h"
#include "suspects/pair_effects.h"
#include "suspects/rank_facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEFT_OVER 10 /* pairs more than ranks, which tell how much links differ */

size_t families_host(const struct suspects_data *d, size_t rank)
{
    size_t host = 0;
    while (!rank_facts_same_host(&d->rank[host], &d->rank[rank]))
        host++;
    return host;
}

static bool same_model(const struct suspects_data *d, size_t a, size_t b)
{
    return !strcmp(d->rank[a].model, d->rank[b].model);
}

static size_t model_of(const struct suspects_data *d, size_t rank)
{
    size_t model = 0;
    while (!same_model(d, model, rank))
        model++;
    return model;
}

static bool any_finite(const double *x, size_t rows, size_t n, size_t entity)
{
    for (size_t row = 0; row < rows; row++)
        if (isfinite(x[row * n + entity]))
            return true;
    return false;
}

/* ---- one family ---- */

/* Takes the values of the chosen ones of `width` entities: (a, b) is at at[i] of a row of x. */
struct choice_of {
    size_t *at, *a, *b;
    size_t n;
};

static void choose(struct choice_of *c, size_t at, size_t a, size_t b)
{
    c->at = xrealloc(c->at, (c->n + 1) * sizeof *c->at);
    c->a = xrealloc(c->a, (c->n + 1) * sizeof *c->a);
    c->b = xrealloc(c->b, (c->n + 1) * sizeof *c->b);
    c->at[c->n] = at;
    c->a[c->n] = a;
    c->b[c->n++] = b;
}

/* Takes the choice. One entity has no peers. */
static void add_family(struct families *f, struct peers p, struct choice_of *c, const double *x,
                       size_t width)
{
    if (c->n >= 2) {
        p.a = c->a;
        p.b = c->b;
        p.n = c->n;
        p.x = xcalloc(p.rows * p.n, sizeof *p.x);
        for (size_t row = 0; row < p.rows; row++)
            for (size_t i = 0; i < p.n; i++)
                p.x[row * p.n + i] = x[row * width + c->at[i]];
        APPEND(f->v, f->n) = p;
    } else {
        free(p.of_rank);
        free(c->a);
        free(c->b);
    }
    free(c->at);
    *c = (struct choice_of){0};
}

/* Ranks (or hosts, by their first rank) of each model; x: [row * ranks + rank]. */
static void add_ranks(struct families *f, const struct suspects_data *d, enum suspect_kind kind,
                      size_t test, const double *x, size_t rows)
{
    for (size_t model = 0; model < d->ranks; model++) {
        struct choice_of c = {0};
        for (size_t i = 0; i < d->ranks; i++)
            if (model_of(d, i) == model && any_finite(x, rows, d->ranks, i))
                choose(&c, i, i, i);
        add_family(f, (struct peers){.kind = kind, .test = test, .rows = rows}, &c, x, d->ranks);
    }
}

/* ---- pairs ---- */

/* Values of pairs of one kind, [row * ranks * ranks + a * ranks + b] for a < b; NaN: another kind. */
struct pairs_of {
    const struct suspects_data *d;
    size_t test, rows;
    double *x;
};

static void add_links(struct families *f, const struct pairs_of *p, struct peers peers,
                      const double *x)
{
    size_t n = p->d->ranks;
    struct choice_of c = {0};
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            if (any_finite(x, p->rows, n * n, a * n + b))
                choose(&c, a * n + b, a, b);
    peers.test = p->test;
    peers.rows = p->rows;
    add_family(f, peers, &c, x, n * n);
}

/* Pairs, and ranks that are in one. */
static void count(const struct pairs_of *p, size_t *pairs, size_t *ranks)
{
    size_t n = p->d->ranks;
    bool *in = xcalloc(n, sizeof *in);
    *pairs = *ranks = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            if (any_finite(p->x, p->rows, n * n, a * n + b)) {
                in[a] = in[b] = true;
                ++*pairs;
            }
    for (size_t a = 0; a < n; a++)
        *ranks += in[a];
    free(in);
}

/* Ranks and their links, or hosts and the routes between them. Fewer pairs than ranks do not tell one
 * from the other; then a pair is all there is. */
static void add_effects(struct families *f, const struct pairs_of *p, enum suspect_kind of_one,
                        enum suspect_kind of_two)
{
    size_t n = p->d->ranks, pairs, ranks;
    double *rank = xcalloc(p->rows * n + 1, sizeof *rank);
    double *link = xcalloc(p->rows * n * n + 1, sizeof *link);
    count(p, &pairs, &ranks);
    for (size_t i = 0; i < p->rows * n * n; i++)
        link[i] = NAN;
    for (size_t row = 0; row < p->rows; row++)
        pair_effects(p->x + row * n * n, n, rank + row * n, link + row * n * n);
    bool split = pairs >= ranks && !suspects_tests[p->test].alone;
    bool many = split && pairs >= ranks + LEFT_OVER;
    struct peers links = {.kind = of_two, .fitted = many ? ranks - 1 : 0, .rank_kind = of_one};
    if (split)
        add_ranks(f, p->d, of_one, p->test, rank, p->rows);
    if (split && !many) {
        links.of_rank = rank;
        rank = NULL;
    }
    add_links(f, p, links, many ? link : p->x);
    free(link);
    free(rank);
}

/* The median over the pairs between two hosts; NaN: none. */
static double between(const double *x, size_t n, const size_t *host, size_t h, size_t k,
                      double *scratch)
{
    size_t m = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n && host[a] == h; b++)
            if (host[b] == k && isfinite(x[a * n + b]))
                scratch[m++] = x[a * n + b];
    return stats_quantile_of(scratch, m, 0.5);
}

/* Between hosts: what the hosts contribute is taken away, for what is left to be the ranks'. */
static void add_routes(struct families *f, struct pairs_of *p)
{
    size_t n = p->d->ranks;
    struct pairs_of hosts = *p;
    double *scratch = xcalloc(n * n + 1, sizeof *scratch);
    size_t *host = xcalloc(n + 1, sizeof *host);
    hosts.x = xcalloc(p->rows * n * n + 1, sizeof *hosts.x);
    for (size_t a = 0; a < n; a++)
        host[a] = families_host(p->d, a);
    for (size_t row = 0; row < p->rows; row++)
        for (size_t h = 0; h < n; h++)
            for (size_t k = 0; k < n; k++)
                hosts.x[(row * n + h) * n + k] =
                    host[h] == h && host[k] == k
                        ? between(p->x + row * n * n, n, host, h, k, scratch)
                        : NAN;
    add_effects(f, &hosts, SUSPECT_NETWORK, SUSPECT_ROUTE);
    for (size_t row = 0; row < p->rows; row++)
        for (size_t a = 0; a < n; a++)
            for (size_t b = a + 1; b < n; b++)
                p->x[(row * n + a) * n + b] -= hosts.x[(row * n + host[a]) * n + host[b]];
    free(hosts.x);
    free(host);
    free(scratch);
}

static bool kind_of_pair(const struct suspects_data *d, size_t a, size_t b, size_t c, size_t e)
{
    bool models = (same_model(d, a, c) && same_model(d, b, e)) ||
                  (same_model(d, a, e) && same_model(d, b, c));
    return models && !strcmp(rank_facts_link(&d->rank[a], &d->rank[b]),
                             rank_facts_link(&d->rank[c], &d->rank[e]));
}

/* True if every rank has a host of its own. */
static bool lone_ranks(const struct suspects_data *d)
{
    for (size_t i = 0; i < d->ranks; i++)
        if (families_host(d, i) != i)
            return false;
    return true;
}

static bool is_first_of_kind(const struct suspects_data *d, size_t c, size_t e)
{
    for (size_t a = 0; a <= c; a++)
        for (size_t b = a + 1; b < (a < c ? d->ranks : e); b++)
            if (kind_of_pair(d, a, b, c, e))
                return false;
    return true;
}

/* The pairs of the kind of (c, e). */
static void add_kind(struct families *f, const struct suspects_data *d, size_t test, size_t c,
                     size_t e, const double *x, size_t rows)
{
    size_t n = d->ranks;
    struct pairs_of p = {.d = d, .test = test, .rows = rows};
    p.x = xcalloc(rows * n * n + 1, sizeof *p.x);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            bool ours = a < b && kind_of_pair(d, a, b, c, e);
            for (size_t row = 0; row < rows; row++)
                p.x[(row * n + a) * n + b] = ours ? x[(row * n + a) * n + b] : NAN;
        }
    if (!rank_facts_same_host(&d->rank[c], &d->rank[e]) && !lone_ranks(d))
        add_routes(f, &p);
    add_effects(f, &p, SUSPECT_RANK, SUSPECT_LINK);
    free(p.x);
}

void families_make(struct families *f, const struct suspects_data *d)
{
    *f = (struct families){0};
    for (size_t t = 0; t < SUSPECTS_TESTS; t++) {
        double *x;
        size_t rows = suspects_rows(d, t, true, &x);
        if (rows && !suspects_tests[t].pair)
            add_ranks(f, d, SUSPECT_RANK, t, x, rows);
        for (size_t a = 0; rows && suspects_tests[t].pair && a < d->ranks; a++)
            for (size_t b = a + 1; b < d->ranks; b++)
                if (is_first_of_kind(d, a, b))
                    add_kind(f, d, t, a, b, x, rows);
        free(x);
    }
}

void families_free(struct families *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->v[i].a);
        free(f->v[i].b);
        free(f->v[i].x);
        free(f->v[i].of_rank);
    }
    free(f->v);
}
