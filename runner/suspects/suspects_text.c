/* SPDX-License-Identifier: Apache-2.0 */
#include "suspects/suspects_text.h"

#include "base/csv.h"
#include "base/err.h"
#include "base/jsontext.h"
#include "base/prometheus.h"
#include "base/text.h"
#include "suspects/cause.h"
#include "suspects/rank_facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[SUSPECT_KINDS] = {[SUSPECT_RANK] = "rank",
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

static double percent(double log_ratio)
{
    return 100 * expm1(log_ratio);
}

static void add_findings(struct text *t, const struct suspect *s, const char *past)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct excess *e = &s->findings[i].excess;
        text_addf(t, "%s%s takes %.1f%% longer", i ? ", " : "",
                  suspects_tests[s->findings[i].test].name, percent(e->value));
        if (!i)
            text_addf(t, " than %s", past ? past : "its peers'");
        if (isfinite(e->lo))
            text_addf(t, " (%.1f to %.1f%%)", percent(e->lo), percent(e->hi));
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

static char *line_of(const struct suspects_report *r, const struct suspect *s)
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

#define SEEN_MOST 1 /* a larger slowdown that could have been seen tells nothing */

static void add_seen(struct text *t, const char *what, double seen)
{
    if (isfinite(seen) && seen < SEEN_MOST)
        text_addf(t, "%s%s %.1f%% slower", t->len ? ", " : " (would have seen ", what, 100 * seen);
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
    const double *seen = r->v->seen;
    bool gpus = count_gpus(r->d) == r->d->ranks;
    struct text t = {0};
    add_seen(&t, gpus ? "a GPU" : "a rank", seen[SUSPECT_RANK]);
    add_seen(&t, "a link", seen[SUSPECT_LINK]);
    add_seen(&t, "a host's network", seen[SUSPECT_NETWORK]);
    if (t.len)
        text_add(&t, ")");
    if (isfinite(seen[SUSPECT_RANK]) && seen[SUSPECT_RANK] >= SEEN_MOST)
        text_addf(&t,
                  "; the times spread too much to see a slow %s: measure again while nothing "
                  "else runs",
                  gpus ? "GPU" : "rank");
    printf("no suspect among %zu %s%s and %zu link%s%s\n", r->d->ranks, gpus ? "GPU" : "rank",
           r->d->ranks == 1 ? "" : "s", r->v->links, r->v->links == 1 ? "" : "s", t.len ? t.s : "");
    text_free(&t);
}

void suspects_print(const struct suspects_report *r)
{
    for (size_t i = 0; i < r->v->n; i++) {
        char *line = line_of(r, &r->v->v[i]);
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

/* ---- JSON ---- */

static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *json_finding(const struct finding *f)
{
    return json_pack("{ss so so so so}", "test", suspects_tests[f->test].name, "slower_percent",
                     number(percent(f->excess.value)), "low_percent", number(percent(f->excess.lo)),
                     "high_percent", number(percent(f->excess.hi)), "p",
                     number(f->excess.p < 1 ? f->excess.p : 1));
}

static json_t *json_rank(const struct suspects_data *d, size_t rank)
{
    const struct rank_facts *r = &d->rank[rank];
    return json_pack("{sI so so so so}", "rank", (json_int_t)rank, "host", json_text(r->host),
                     "gpu", r->gpu ? json_integer(r->index) : json_null(), "model",
                     json_text(r->model), "uuid", json_text(r->uuid));
}

static json_t *json_suspect(const struct suspects_report *r, const struct suspect *s)
{
    json_t *ranks = json_array(), *findings = json_array();
    char *line = line_of(r, s);
    json_array_append_new(ranks, json_rank(r->d, s->a));
    if (s->kind == SUSPECT_LINK || s->kind == SUSPECT_ROUTE)
        json_array_append_new(ranks, json_rank(r->d, s->b));
    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(findings, json_finding(&s->findings[i]));
    json_t *o =
        json_pack("{ss so so sb sb so}", "kind", kinds[s->kind], "ranks", ranks, "findings",
                  findings, "silent", s->silent, "shared", s->shared, "text", json_text(line));
    free(line);
    return o;
}

void suspects_print_json(const struct suspects_report *r)
{
    json_t *suspects = json_array(), *failed = json_array(), *seen = json_object();
    for (size_t i = 0; i < r->v->n; i++)
        json_array_append_new(suspects, json_suspect(r, &r->v->v[i]));
    for (size_t i = 0; i < r->d->n_failed; i++)
        json_array_append_new(failed, json_text(r->d->failed[i]));
    for (size_t k = 0; k < SUSPECT_KINDS; k++)
        if (isfinite(r->v->seen[k]))
            json_object_set_new(seen, kinds[k], json_real(100 * r->v->seen[k]));
    json_t *o =
        json_pack("{ss so so so sI sI sb so so so}", "schema", "gradsync-suspects-1", "platform",
                  json_text(r->d->platform), "run_id", json_text(r->d->run_id), "baseline",
                  r->past ? json_text(r->past) : json_null(), "ranks", (json_int_t)r->d->ranks,
                  "links", (json_int_t)r->v->links, "compared", r->v->compared, "suspects",
                  suspects, "failed", failed, "would_have_seen_percent", seen);
    char *dump = json_dumps(o, JSON_INDENT(1));
    puts(dump);
    free(dump);
    json_decref(o);
}

/* ---- Prometheus ---- */

static void add_gauge(struct text *t, const struct suspects_data *d, const struct suspect *s)
{
    char rank[24], peer[24] = "";
    double worst = s->n ? percent(s->findings[0].excess.value) : NAN;
    snprintf(rank, sizeof rank, "%zu", s->a);
    if (s->a != s->b)
        snprintf(peer, sizeof peer, "%zu", s->b);
    text_add(t, "gradsync_suspect_slower_percent{");
    prometheus_label(t, "kind", kinds[s->kind]);
    prometheus_label(t, "rank", rank);
    prometheus_label(t, "peer", peer);
    prometheus_label(t, "host", d->rank[s->a].host);
    prometheus_label(t, "uuid", d->rank[s->a].uuid);
    text_addf(t, isfinite(worst) ? "} %.3f\n" : "} NaN\n", worst);
}

int suspects_write_prometheus(const struct suspects_report *r, const char *path)
{
    struct text t = {0};
    text_addf(&t,
              "# HELP gradsync_suspects Ranks, links and hosts that are slower than their peers\n"
              "# TYPE gradsync_suspects gauge\ngradsync_suspects %zu\n",
              r->v->n);
    if (r->v->n)
        text_add(&t, "# HELP gradsync_suspect_slower_percent Time beyond that of its peers, in the "
                     "worst test\n# TYPE gradsync_suspect_slower_percent gauge\n");
    for (size_t i = 0; i < r->v->n; i++)
        add_gauge(&t, r->d, &r->v->v[i]);
    int code = csv_write_file(path, t.s);
    text_free(&t);
    return code;
}
