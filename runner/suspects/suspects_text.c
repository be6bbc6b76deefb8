/* SPDX-License-Identifier: Apache-2.0 */
#include "suspects/suspects_text.h"

#include "base/text.h"
#include "suspects/cause.h"
#include "suspects/rank_facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const suspect_kinds[SUSPECT_KINDS] = {[SUSPECT_RANK] = "rank",
                                                  [SUSPECT_HOST] = "host",
                                                  [SUSPECT_NETWORK] = "network of a host",
                                                  [SUSPECT_LINK] = "link",
                                                  [SUSPECT_ROUTE] = "link between hosts"};

/* ---- lines ---- */

static void add_place(struct text *t, const struct rank_facts *r)
{
    if (r->gpu)
        text_addf(t, "GPU %d of %s, %s%s%s", r->index, r->host, r->model, *r->uuid ? ", " : "",
                  r->uuid);
    else
        text_addf(t, "on %s", r->host);
}

/* "NVLink, GPU 1 and GPU 2 of n1", "network, n1 and n2", "on n1". */
static void add_ends(struct text *t, const struct rank_facts *a, const struct rank_facts *b)
{
    bool same = rank_facts_same_host(a, b);
    if (same && !a->gpu) {
        text_addf(t, "on %s", a->host);
        return;
    }
    text_addf(t, "%s, ", rank_facts_link(a, b));
    if (a->gpu)
        text_addf(t, "GPU %d%s", a->index, same ? "" : " of ");
    text_addf(t, "%s and ", same ? "" : a->host);
    if (b->gpu)
        text_addf(t, "GPU %d of ", b->index);
    text_add(t, b->host);
}

static void add_name(struct text *t, const struct suspects_data *d, const struct suspect *s)
{
    const struct rank_facts *a = &d->rank[s->a], *b = &d->rank[s->b];
    switch (s->kind) {
    case SUSPECT_HOST:
        text_addf(t, "host %s (all its ranks)", a->host);
        break;
    case SUSPECT_NETWORK:
        text_addf(t, "network of host %s", a->host);
        break;
    case SUSPECT_ROUTE:
        text_addf(t, "link between host %s and host %s", a->host, b->host);
        break;
    case SUSPECT_LINK:
        text_addf(t, "link of rank %zu and rank %zu (", s->a, s->b);
        add_ends(t, a, b);
        text_add(t, ")");
        break;
    default:
        text_addf(t, "rank %zu (", s->a);
        add_place(t, a);
        text_add(t, ")");
    }
}

double suspects_percent(double log_ratio)
{
    return 100 * expm1(log_ratio);
}

static void add_findings(struct text *t, const struct suspect *s, const char *past)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct excess *e = &s->findings[i].excess;
        text_addf(t, "%s%s takes %.1f%% longer", i ? ", " : "",
                  suspects_tests[s->findings[i].test].name, suspects_percent(e->value));
        if (!i)
            text_addf(t, " than %s", past ? past : "its peers'");
        if (isfinite(e->lo))
            text_addf(t, " (%.1f to %.1f%%)", suspects_percent(e->lo), suspects_percent(e->hi));
    }
}

static void add_cause(struct text *t, const struct suspects_data *d, const struct suspect *s)
{
    struct text a = {0}, b = {0};
    if (s->kind == SUSPECT_RANK || s->kind == SUSPECT_HOST || s->kind == SUSPECT_LINK)
        cause_of_rank(&a, d, s->a);
    if (s->kind == SUSPECT_LINK)
        cause_of_rank(&b, d, s->b);
    if (a.len && s->kind == SUSPECT_LINK)
        text_addf(t, "; rank %zu: %s", s->a, a.s);
    else if (a.len)
        text_addf(t, "; %s", a.s);
    if (b.len)
        text_addf(t, "; rank %zu: %s", s->b, b.s);
    text_free(&a);
    text_free(&b);
}

char *suspects_line(const struct suspects_report *r, const struct suspect *s)
{
    struct text t = {0};
    add_name(&t, r->d, s);
    text_add(&t, ": ");
    if (s->silent)
        text_addf(&t, "did not answer in time%s", s->n ? ", " : "");
    add_findings(&t, s, r->past);
    if (s->shared)
        text_add(&t, ", only while other pairs run: they share a path");
    add_cause(&t, r->d, s);
    return t.s;
}

static size_t count_gpus(const struct suspects_data *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->ranks; i++)
        n += d->rank[i].gpu;
    return n;
}

#define SEEN_MOST 1    /* a larger slowdown that could have been seen tells nothing */
#define SEEN_ALIKE 1.5 /* if all limits are within this factor, only the largest is printed */

struct suspects_seen suspects_seen_in(const double *seen)
{
    struct suspects_seen s = {0};
    for (size_t t = 0; t < SUSPECTS_TESTS; t++) {
        if (!isfinite(seen[t]))
            continue;
        s.least = s.any && seen[s.least] <= seen[t] ? s.least : t;
        s.most = s.any && seen[s.most] >= seen[t] ? s.most : t;
        s.any = true;
    }
    return s;
}

static void add_seen(struct text *t, const char *what, const double *seen)
{
    struct suspects_seen s = suspects_seen_in(seen);
    if (!s.any || seen[s.least] >= SEEN_MOST)
        return;
    text_addf(t, "%s%s ", t->len ? ", " : " (would have seen ", what);
    if (seen[s.most] <= SEEN_ALIKE * seen[s.least])
        text_addf(t, "%.1f%% slower", 100 * seen[s.most]);
    else
        text_addf(t, "%.1f%% slower in %s", 100 * seen[s.least], suspects_tests[s.least].name);
    if (seen[s.most] > SEEN_ALIKE * seen[s.least] && seen[s.most] < SEEN_MOST)
        text_addf(t, ", %.1f%% in %s", 100 * seen[s.most], suspects_tests[s.most].name);
}

/* The first recording of one GPU is its past later. */
static void print_not_compared(const struct suspects_report *r)
{
    printf("nothing was compared: %s; to compare with this recording later: %s\n",
           r->d->ranks == 1 ? "one rank has no peers" : "no two ranks and no two links are alike",
           r->later);
}

static void print_none(const struct suspects_report *r)
{
    bool gpus = count_gpus(r->d) == r->d->ranks;
    const double *of_rank = r->v->seen[SUSPECT_RANK];
    struct suspects_seen s = suspects_seen_in(of_rank);
    struct text t = {0};
    add_seen(&t, gpus ? "a GPU" : "a rank", of_rank);
    add_seen(&t, "a link", r->v->seen[SUSPECT_LINK]);
    add_seen(&t, "a host's network", r->v->seen[SUSPECT_NETWORK]);
    if (t.len)
        text_add(&t, ")");
    if (s.any && of_rank[s.most] >= SEEN_MOST)
        text_addf(&t,
                  "; the times of %s spread too much to see a slow %s: measure again while "
                  "nothing else runs",
                  suspects_tests[s.most].name, gpus ? "GPU" : "rank");
    printf("no suspect among %zu %s%s and %zu link%s%s\n", r->d->ranks, gpus ? "GPU" : "rank",
           r->d->ranks == 1 ? "" : "s", r->v->links, r->v->links == 1 ? "" : "s", t.len ? t.s : "");
    text_free(&t);
}

void suspects_print(const struct suspects_report *r)
{
    for (size_t i = 0; i < r->v->n; i++) {
        char *line = suspects_line(r, &r->v->v[i]);
        printf("suspect: %s\n", line);
        free(line);
    }
    for (size_t i = 0; i < r->d->n_failed; i++)
        printf("failed: %s\n", r->d->failed[i]);
    if (!r->v->n && !r->d->n_failed && !r->v->compared)
        print_not_compared(r);
    else if (!r->v->n && !r->d->n_failed)
        print_none(r);
}
