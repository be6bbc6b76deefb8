/* SPDX-License-Identifier: Apache-2.0 */
#include "suspects/suspects_text.h"

#include "base/csv.h"
#include "base/jsontext.h"
#include "base/stats.h"
#include "base/text.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cause ----
 *
 * Why a rank may be slow: the readings of its GPU or processor, beside the median of its peers.
 */

static const struct told {
    bool high_is_bad;
    double ratio; /* worse than the peers by this factor */
    double least; /* and at least this much, in the unit of the text */
    const char *name, *unit;
    double scale;
    int digits;
} facts[FACTS] = {
    [FACT_THROTTLED] = {true, 1, 5, "throttled in", "% of readings", 100, 0},
    [FACT_SM_HZ] = {false, 0.98, 0, "SM clock", " GHz", 1e-9, 2},
    [FACT_MEMORY_HZ] = {false, 0.98, 0, "memory clock", " GHz", 1e-9, 2},
    [FACT_TEMPERATURE_C] = {true, 1, 8, "temperature", " °C", 1, 0},
    [FACT_POWER_W] = {false, 0.9, 0, "power", " W", 1, 0},
    [FACT_LANES] = {false, 0.99, 0, "PCIe lanes", "", 1, 0},
    [FACT_NVLINKS] = {false, 0.99, 0, "NVLinks", "", 1, 0},
    [FACT_NVLINK_ERRORS] = {true, 1, 1, "NVLink errors", "", 1, 0},
    [FACT_OWN_CORES] = {false, 0.9, 0, "got", " processors", 1, 2},
};

/* The median of the other ranks of the same model. */
static double of_peers(const struct suspects_data *d, size_t rank, enum fact f)
{
    AUTO_FREE double *x = xcalloc(d->ranks, sizeof *x);
    size_t n = 0;
    for (size_t i = 0; i < d->ranks; i++)
        if (i != rank && !strcmp(d->rank[i].model, d->rank[rank].model) &&
            isfinite(suspects_fact(&d->rank[i], f)))
            x[n++] = suspects_fact(&d->rank[i], f);
    return stats_median(x, n);
}

static bool is_worse(const struct told *f, double mine, double peers)
{
    return f->high_is_bad ? mine > peers * f->ratio && (mine - peers) * f->scale >= f->least
                          : mine < peers * f->ratio;
}

/* Adds "throttled by hw_thermal in 80% of readings (peers 0%), SM clock 1.20 GHz (peers 1.98 GHz)".
 * If the GPU differs in nothing, the text says so; if nothing is known, it stays empty. */
static void cause_of_rank(struct text *t, const struct suspects_data *d, size_t rank)
{
    const struct rank_facts *r = &d->rank[rank];
    size_t told = 0, known = 0;
    for (int i = 0; i < FACTS; i++) {
        const struct told *f = &facts[i];
        double mine = suspects_fact(r, (enum fact)i), peers = of_peers(d, rank, (enum fact)i);
        known += isfinite(mine) && isfinite(peers);
        if (!is_worse(f, mine, peers))
            continue;
        text_addf(t, "%s%s %.*f%s (peers %.*f%s)", told++ ? ", " : "", f->name, f->digits,
                  mine * f->scale, f->unit, f->digits, peers * f->scale, f->unit);
        for (size_t k = 0; i == FACT_THROTTLED && k < r->reasons.n; k++)
            text_addf(t, "%s%s", k ? ", " : " by ", r->reasons.v[k]);
    }
    if (!told && known && r->gpu)
        text_add(t, "not throttled: clocks, power, temperature and links are those of its peers");
}

static const char *const suspect_kinds[SUSPECT_KINDS] = {[SUSPECT_RANK] = "rank",
                                                         [SUSPECT_HOST] = "host",
                                                         [SUSPECT_LINK] = "link",
                                                         [SUSPECT_ROUTE] = "link between hosts"};

/* ---- lines ---- */

/* "GPU 1 of n1", "GPU 1", "n1". */
static void add_end(struct text *t, const struct rank_facts *r, bool host)
{
    if (r->gpu)
        text_addf(t, "GPU %d%s", r->index, host ? " of " : "");
    if (host)
        text_add(t, r->host);
}

/* "NVLink, GPU 1 and GPU 2 of n1", "network, n1 and n2", "on n1". */
static void add_ends(struct text *t, const struct rank_facts *a, const struct rank_facts *b)
{
    bool same = suspects_same_host(a, b);
    if (same && !a->gpu) {
        text_addf(t, "on %s", a->host);
        return;
    }
    text_addf(t, "%s, ", suspects_link(a, b));
    add_end(t, a, !same);
    text_add(t, " and ");
    add_end(t, b, true);
}

static void add_name(struct text *t, const struct suspects_data *d, const struct suspect *s)
{
    const struct rank_facts *a = &d->rank[s->a], *b = &d->rank[s->b];
    switch (s->kind) {
    case SUSPECT_HOST:
        text_addf(t, "host %s (all its ranks)", a->host);
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
        text_addf(t, "rank %zu (%s", s->a, a->gpu ? "" : "on ");
        add_end(t, a, true);
        if (a->gpu)
            text_addf(t, ", %s%s%s", a->model, *a->uuid ? ", " : "", a->uuid);
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

/* Of a rank, of the first rank of a host, or of both ends of a link. */
static void add_cause(struct text *t, const struct suspects_data *d, const struct suspect *s)
{
    const size_t ends[] = {s->a, s->b};
    bool link = s->kind == SUSPECT_LINK;
    for (int i = 0; i <= link && s->kind != SUSPECT_ROUTE; i++) {
        AUTO_TEXT struct text cause = {0};
        cause_of_rank(&cause, d, ends[i]);
        if (cause.len && link)
            text_addf(t, "; rank %zu: %s", ends[i], cause.s);
        else if (cause.len)
            text_addf(t, "; %s", cause.s);
    }
}

/* to be freed */
static char *suspects_line(const struct suspects_report *r, const struct suspect *s)
{
    struct text t = {0};
    add_name(&t, r->d, s);
    text_add(&t, ": ");
    if (s->silent)
        text_addf(&t, "did not answer in time%s", s->n ? ", " : "");
    add_findings(&t, s, r->past);
    add_cause(&t, r->d, s);
    return t.s;
}

#define SEEN_MOST 1 /* a larger slowdown that could have been seen tells nothing */

/* The test in which the smallest visible slowdown is largest; SUSPECTS_TESTS: none was judged. */
static size_t worst_seen(const double *seen)
{
    size_t worst = SUSPECTS_TESTS;
    for (size_t t = 0; t < SUSPECTS_TESTS; t++)
        if (isfinite(seen[t]) && (worst == SUSPECTS_TESTS || seen[t] > seen[worst]))
            worst = t;
    return worst;
}

/* Where some tests say nothing, of the others. */
static void add_seen(struct text *t, const char *what, const double *seen)
{
    double most = 0;
    for (size_t i = 0; i < SUSPECTS_TESTS; i++)
        if (seen[i] < SEEN_MOST)
            most = fmax(most, seen[i]);
    if (most > 0)
        text_addf(t, "%s a %s %.1f%% slower", t->len ? "," : " (would have seen", what, 100 * most);
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
    const double *of_rank = r->v->seen[SUSPECT_RANK];
    size_t worst = worst_seen(of_rank), gpus = 0;
    AUTO_TEXT struct text t = {0};
    for (size_t i = 0; i < r->d->ranks; i++)
        gpus += r->d->rank[i].gpu;
    const char *one = gpus == r->d->ranks ? "GPU" : "rank";
    add_seen(&t, one, of_rank);
    add_seen(&t, "link", r->v->seen[SUSPECT_LINK]);
    if (t.len)
        text_add(&t, ")");
    if (worst < SUSPECTS_TESTS && of_rank[worst] >= SEEN_MOST)
        text_addf(&t,
                  "; the times of %s spread too much to see a slow %s: measure again while "
                  "nothing else runs",
                  suspects_tests[worst].name, one);
    printf("no suspect among %zu %s%s and %zu link%s%s\n", r->d->ranks, one,
           r->d->ranks == 1 ? "" : "s", r->v->links, r->v->links == 1 ? "" : "s", t.len ? t.s : "");
}

void suspects_print(const struct suspects_report *r)
{
    for (size_t i = 0; i < r->v->n; i++) {
        AUTO_FREE char *line = suspects_line(r, &r->v->v[i]);
        printf("suspect: %s\n", line);
    }
    for (size_t i = 0; i < r->d->failed.n; i++)
        printf("failed: %s\n", r->d->failed.v[i]);
    if (!r->v->n && !r->d->failed.n)
        (r->v->compared ? print_none : print_not_compared)(r);
}

/* ---- JSON ---- */

static json_t *json_finding(const struct finding *f)
{
    return json_pack("{ss so so so so}", "test", suspects_tests[f->test].name, "slower_percent",
                     json_finite(percent(f->excess.value)), "low_percent",
                     json_finite(percent(f->excess.lo)), "high_percent",
                     json_finite(percent(f->excess.hi)), "p",
                     json_finite(f->excess.p < 1 ? f->excess.p : 1));
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
    AUTO_FREE char *line = suspects_line(r, s);
    json_array_append_new(ranks, json_rank(r->d, s->a));
    if (s->kind == SUSPECT_LINK || s->kind == SUSPECT_ROUTE)
        json_array_append_new(ranks, json_rank(r->d, s->b));
    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(findings, json_finding(&s->findings[i]));
    return json_pack("{ss so so sb so}", "kind", suspect_kinds[s->kind], "ranks", ranks, "findings",
                     findings, "silent", s->silent, "text", json_text(line));
}

void suspects_print_json(const struct suspects_report *r)
{
    json_t *suspects = json_array(), *failed = json_array(), *seen = json_object();
    for (size_t i = 0; i < r->v->n; i++)
        json_array_append_new(suspects, json_suspect(r, &r->v->v[i]));
    for (size_t i = 0; i < r->d->failed.n; i++)
        json_array_append_new(failed, json_text(r->d->failed.v[i]));
    for (size_t k = 0; k < SUSPECT_KINDS; k++) {
        size_t worst = worst_seen(r->v->seen[k]);
        if (worst < SUSPECTS_TESTS)
            json_object_set_new(seen, suspect_kinds[k], json_real(100 * r->v->seen[k][worst]));
    }
    AUTO_JSON json_t *o =
        json_pack("{ss so so so sI sI sb so so so}", "schema", "gradsync-suspects-1", "platform",
                  json_text(r->d->platform), "run_id", json_text(r->d->run_id), "baseline",
                  r->past ? json_text(r->past) : json_null(), "ranks", (json_int_t)r->d->ranks,
                  "links", (json_int_t)r->v->links, "compared", r->v->compared, "suspects",
                  suspects, "failed", failed, "would_have_seen_percent", seen);
    json_print(o, JSON_INDENT(1));
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
    text_add_label(t, "kind", suspect_kinds[s->kind]);
    text_add_label(t, "rank", rank);
    text_add_label(t, "peer", peer);
    text_add_label(t, "host", d->rank[s->a].host);
    text_add_label(t, "uuid", d->rank[s->a].uuid);
    text_addf(t, isfinite(worst) ? "} %.3f\n" : "} NaN\n", worst);
}

int suspects_write_prometheus(const struct suspects_report *r, const char *path)
{
    AUTO_TEXT struct text t = {0};
    text_addf(&t,
              "# HELP gradsync_suspects Ranks, links and hosts that are slower than their peers\n"
              "# TYPE gradsync_suspects gauge\ngradsync_suspects %zu\n",
              r->v->n);
    if (r->v->n)
        text_add(&t, "# HELP gradsync_suspect_slower_percent Time beyond that of its peers, in the "
                     "worst test\n# TYPE gradsync_suspect_slower_percent gauge\n");
    for (size_t i = 0; i < r->v->n; i++)
        add_gauge(&t, r->d, &r->v->v[i]);
    return csv_write_file(path, t.s);
}
